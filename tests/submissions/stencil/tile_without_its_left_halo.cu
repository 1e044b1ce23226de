// The tile begins at the block's own elements, and not with the halo on their left.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int R = 8;
constexpr int TILE = BLOCK + 2 * R;

extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    __shared__ float tile[TILE];
    const int first = blockIdx.x * BLOCK;
    for (int k = threadIdx.x; k < TILE; k += BLOCK) {
        const int place = first + k;
        tile[k] = place >= 0 && place < N ? in[place] : 0.0f;
    }
    __syncthreads();

    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) {
        float sum = 0.0f;
        for (int k = 0; k <= 2 * R; ++k) {
            sum += tile[threadIdx.x + k];
        }
        out[i] = sum;
    }
}
