// Mistake: it adds up counts in floats, which hold every whole number to 2^24 only.
//
// /// launch
// [[launch]]
// kernel = "count"
// grid = ["min(16 * SMS, cdiv(N, BLOCK))"]
// block = ["BLOCK"]
// args = ["in", "counts", "N"]
// zero = ["counts"]
//
// [[launch]]
// kernel = "histogram"
// grid = [1]
// block = ["BLOCK"]
// args = ["counts", "bins"]
//
// [[scratch]]
// name = "counts"
// dtype = "float32"
// shape = ["256"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void count(const unsigned char* in, float* counts, int N)
{
    __shared__ int mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    const long long threads = (long long)gridDim.x * BLOCK;
    for (long long i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += threads) {
        atomicAdd(&mine[in[i]], 1);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

extern "C" __global__ void histogram(const float* counts, unsigned* bins)
{
    bins[threadIdx.x] = unsigned(counts[threadIdx.x]);
}
