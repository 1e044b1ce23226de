// Blocks of 1024 threads, two for each multiprocessor: a block
// counts all of its bytes in shared memory, and then adds its 256
// bins to the output, once.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(SMS * 2, cdiv(N, BLOCK * 4))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 1024;  // threads of a block
constexpr int BINS = 256;

// bins[b] += how many of the N bytes of `in` are b.
extern "C" __global__ void histogram(
    const unsigned char* __restrict__ in,
    unsigned* __restrict__ bins, int N)
{
    __shared__ unsigned counts[BINS];
    if (threadIdx.x < BINS) {
        counts[threadIdx.x] = 0;
    }
    __syncthreads();

    const int stride = gridDim.x * BLOCK;
    for (int word = blockIdx.x * BLOCK + threadIdx.x; word < N / 4;
         word += stride) {
        const uchar4 four =
            reinterpret_cast<const uchar4*>(in)[word];
        atomicAdd(&counts[four.x], 1);
        atomicAdd(&counts[four.y], 1);
        atomicAdd(&counts[four.z], 1);
        atomicAdd(&counts[four.w], 1);
    }
    if (blockIdx.x == 0 && threadIdx.x < N % 4) {
        atomicAdd(&counts[in[N / 4 * 4 + threadIdx.x]], 1);
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
    }
}
