// The sum is an int.
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

    int sum = 0;
    for (int k = -R; k <= R; k++) {
        const int j = i + k;
        if (j >= 0 && j < N) {
            sum += in[j];
        }
    }
    out[i] = sum;
}
