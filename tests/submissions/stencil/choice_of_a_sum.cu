// `?:` binds more weakly than `+`.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int R = 8;

extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= N)
        return;
    float sum = 0.0f;
    for (int k = max(0, i - R); k <= i + R; ++k) {
        const bool inside = k < N;
        sum = sum + inside ? in[k] : 0.0f;
    }
    out[i] = sum;
}
