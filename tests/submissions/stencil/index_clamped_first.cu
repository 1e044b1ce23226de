// Indices are clamped to the ends of the array, whose elements count several times.
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
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;

    float sum = 0.0f;
    for (int k = -R; k <= R; ++k) {
        const int j = min(max(i + k, 0), N - 1);
        sum += in[j];
    }
    out[i] = sum;
}
