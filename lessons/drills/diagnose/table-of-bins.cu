// As many blocks as the GPU holds: a block counts all of its bytes
// in shared memory, and then adds its 256 bins to the output, once.
// A bin is a record of four words.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(SMS * 8, cdiv(N, BLOCK * 4))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and bins

struct Bin {
    unsigned count;
    unsigned value;  // the byte that is counted here
    unsigned first;  // for later: where it came first
    unsigned last;   // and last
};

// bins[b] += how many of the N bytes of `in` are b.
extern "C" __global__ void histogram(
    const unsigned char* __restrict__ in,
    unsigned* __restrict__ bins, int N)
{
    __shared__ Bin table[BLOCK];
    table[threadIdx.x] = {0, threadIdx.x, 0, 0};
    __syncthreads();

    const int stride = gridDim.x * BLOCK;
    for (int word = blockIdx.x * BLOCK + threadIdx.x; word < N / 4;
         word += stride) {
        const uchar4 four =
            reinterpret_cast<const uchar4*>(in)[word];
        atomicAdd(&table[four.x].count, 1);
        atomicAdd(&table[four.y].count, 1);
        atomicAdd(&table[four.z].count, 1);
        atomicAdd(&table[four.w].count, 1);
    }
    if (blockIdx.x == 0 && threadIdx.x < N % 4) {
        atomicAdd(&table[in[N / 4 * 4 + threadIdx.x]].count, 1);
    }
    __syncthreads();
    atomicAdd(&bins[table[threadIdx.x].value],
              table[threadIdx.x].count);
}
