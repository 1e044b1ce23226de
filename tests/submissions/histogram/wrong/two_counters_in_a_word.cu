// Two counters of 16 bits share a word, and run over where a block counts 65,536 equal bytes a copy: from some
// 554 million of them on.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(SMS * 8, cdiv(N, FEWEST))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///
constexpr int BLOCK = 256;
constexpr int FEWEST = 8192;
constexpr int COPIES = 8;
// Two bins share a word, 16 bits each: twice as many copies fit.
extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins, int N)
{
    __shared__ unsigned counts[128][COPIES];
    for (int i = threadIdx.x; i < 128 * COPIES; i += BLOCK) counts[i / COPIES][i % COPIES] = 0;
    __syncthreads();
    const size_t stride = size_t(gridDim.x) * BLOCK;
    const int copy = threadIdx.x % COPIES;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += stride) {
        const unsigned b = in[i];
        atomicAdd(&counts[b / 2][copy], b % 2 ? 0x10000u : 1u);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int c = 0; c < COPIES; ++c) sum += threadIdx.x % 2 ? counts[threadIdx.x / 2][c] >> 16 : counts[threadIdx.x / 2][c] & 0xffff;
    atomicAdd(&bins[threadIdx.x], sum);
}
