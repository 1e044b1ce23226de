// Block 0 puts the counter back while others have not drawn their last chunk: the next call leaves some out.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["min(SMS * 4, cdiv(N, CHUNK))"]
// block = ["BLOCK"]
// ///
constexpr int BLOCK = 256;
constexpr int CHUNK = 2048;
__device__ unsigned tickets = 0;
extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int N)
{
    __shared__ unsigned chunk;
    const unsigned chunks = (unsigned(N) + CHUNK - 1) / CHUNK;
    for (;;) {
        if (threadIdx.x == 0) {
            chunk = atomicAdd(&tickets, 1);
        }
        __syncthreads();
        const unsigned mine = chunk;
        __syncthreads();
        if (mine >= chunks) {
            break;
        }
        for (unsigned i = mine * CHUNK + threadIdx.x; i < mine * CHUNK + CHUNK && i < N; i += BLOCK) {
            c[i] = a[i] + b[i];
        }
    }
    // Block 0 sees that all chunks are given out, and resets the counter for the next call.
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        atomicExch(&tickets, 0);
    }
}
