// The halo behind the tile is read from another place than the condition compares.
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
    const int me = threadIdx.x + R;

    tile[me] = (i < N) ? in[i] : 0;
    if (threadIdx.x < R) {
        tile[me - R] = (i >= R && i - R < N) ? in[i - R] : 0;
        tile[me + BLOCK] = (i + BLOCK < N) ? in[i + R] : 0;
    }
    __syncthreads();

    if (i < N) {
        float total = 0;
        for (int j = me - R; j <= me + R; ++j) {
            total += tile[j];
        }
        out[i] = total;
    }
}
