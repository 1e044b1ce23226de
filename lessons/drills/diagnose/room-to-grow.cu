// A block brings the elements of 256 outputs into shared memory,
// with room for outputs to come.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// shared = "ROOM * 4"
// ///

constexpr int BLOCK = 256;
constexpr int R = 8;
constexpr int ROOM =
    24 * 1024;  // floats: what a block was given for larger radii

// out[i] = in[i - R] + … + in[i + R]; beyond either end stand
// zeros.
extern "C" __global__ void stencil(const float* __restrict__ in,
                                   float* __restrict__ out, int N)
{
    extern __shared__ float tile[];

    const long long first = (long long)blockIdx.x * BLOCK;
    for (int k = threadIdx.x; k < BLOCK + 2 * R; k += BLOCK) {
        const long long place = first - R + k;
        tile[k] = place >= 0 && place < N ? in[place] : 0.0f;
    }
    __syncthreads();
    if (first + threadIdx.x < N) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k <= 2 * R; ++k) {
            sum += tile[threadIdx.x + k];
        }
        out[first + threadIdx.x] = sum;
    }
}
