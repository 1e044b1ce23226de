// A warp whose 32 own elements are all zero stores zeros ("nothing to add"), although neighbours within the
// radius are not zero. Wrong for sparse signals: 32 aligned zeros beside a nonzero. Contract: any floats.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///
constexpr int BLOCK = 256;
constexpr int R = 8;
extern "C" __global__ void stencil(const float* __restrict__ in, float* __restrict__ out, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const float own = i < N ? in[i] : 0.0f;
    if (i - int(threadIdx.x % 32) + 32 <= N && __all_sync(0xffffffffu, own == 0.0f)) {
        if (i < N) out[i] = 0.0f;
        return;
    }
    if (i >= N) return;
    float sum = 0.0f;
    for (int k = max(i - R, 0); k <= min(i + R, N - 1); ++k) sum += in[k];
    out[i] = sum;
}
