// The loop that fills the tile counts the halo at one end alone.
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
    __shared__ float tile[BLOCK + 2 * R];
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    for (int p = threadIdx.x; p < BLOCK + R; p += blockDim.x) {
        int from = int(blockIdx.x * BLOCK) + p - R;
        if (from < 0 || from >= N) {
            tile[p] = 0.0f;
        } else {
            tile[p] = in[from];
        }
    }

    __syncthreads();

    if (i >= N) {
        return;
    }
    float s = 0.0f;
    for (int p = 0; p < 2 * R + 1; p++) {
        s += tile[threadIdx.x + p];
    }
    out[i] = s;
}
