// Elements in front of the first count as the first.
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
    if (i >= N) {
        return;
    }
    float sum = 0.0f;
    for (int k = -R; k <= R; ++k) {
        const unsigned at = i + k > 0 ? i + k : 0;
        if (at >= 0 && at < N) {
            sum += in[at];
        }
    }
    out[i] = sum;
}
