// The right halo is stored where other threads keep elements of their own.
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
    const int t = threadIdx.x + R;
    tile[t] = i < N ? in[i] : 0.0f;
    if (threadIdx.x < R) {
        const int left = i - R;
        const int right = i + BLOCK;
        tile[t - R] = left >= 0 ? in[left] : 0.0f;
        tile[threadIdx.x + BLOCK] = right < N ? in[right] : 0.0f;
    }
    __syncthreads();
    if (i < N) {
        float sum = 0.0f;
        for (int k = -R; k <= R; ++k) {
            sum += tile[t + k];
        }
        out[i] = sum;
    }
}
