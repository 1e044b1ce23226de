// /// launch
// [[launch]]
// kernel = "rmsnorm<8>"
// when = "N % 8 == 0"
// grid = ["M"]
// block = [32]
//
// [[launch]]
// kernel = "rmsnorm<1>"
// when = "N % 8 != 0"
// grid = ["M"]
// block = [32]
// ///
#include <cuda_bf16.h>

template <int WIDTH>
struct alignas(2 * WIDTH) Pack {
    __nv_bfloat16 lane[WIDTH];
};

template <int WIDTH>
__global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual,
                        const __nv_bfloat16* gamma, __nv_bfloat16* y, __nv_bfloat16* sum,
                        int M, int N, float eps)
{
    using Packs = Pack<WIDTH>;
    const size_t start = size_t(blockIdx.x) * N;
    Packs* const row_sum = reinterpret_cast<Packs*>(sum + start);
    const int thread = threadIdx.x;

    float squares = 0.0f;
    for (int pack = thread; pack < N / WIDTH; pack += 32) {
        const Packs a = reinterpret_cast<const Packs*>(x + start)[pack];
        const Packs b = reinterpret_cast<const Packs*>(residual + start)[pack];
        Packs added;
        for (int i = 0; i < WIDTH; ++i) {
            added.lane[i] = __float2bfloat16(__bfloat162float(a.lane[i]) + __bfloat162float(b.lane[i]));
            squares += __bfloat162float(added.lane[i]) * __bfloat162float(added.lane[i]);
        }
        row_sum[pack] = added;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        squares += __shfl_xor_sync(0xffffffff, squares, distance);
    }
    const float scale = rsqrtf(squares / N + eps);

    for (int pack = thread; pack < N / WIDTH; pack += 32) {
        const Packs added = row_sum[pack];
        const Packs weight = reinterpret_cast<const Packs*>(gamma)[thread];  //!
        Packs out;
        for (int i = 0; i < WIDTH; ++i) {
            const float normal = __bfloat162float(added.lane[i]) * scale;
            out.lane[i] = __float2bfloat16(normal * __bfloat162float(weight.lane[i]));
        }
        reinterpret_cast<Packs*>(y + start)[pack] = out;
    }
}
