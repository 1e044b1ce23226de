// The loop ends one term too early.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and outputs
constexpr int R = 8;        // the radius: how far the stencil reaches to either side

// in and out have N floats each; out[i] = in[i - R] + … + in[i + R]. Elements before the first and
// behind the last count as zero.
extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= N) {
        return;
    }

    float sum = 0.0f;
    for (int k = -R; k < R; k++) {
        if (i + k >= 0 && i + k < N) {
            sum += in[i + k];
        }
    }
    out[i] = sum;
}
