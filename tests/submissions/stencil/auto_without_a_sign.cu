// auto makes the index unsigned, and i - R is not below 0.
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
    const auto i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) {
        float sum = 0.0f;
        for (auto j = i - R; j <= i + R; ++j) {
            if (j >= 0 && j < N) {
                sum += in[j];
            }
        }
        out[i] = sum;
    }
}
