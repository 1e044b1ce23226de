// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(2 * SMS, cdiv(N, 4096))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 512;
constexpr int BINS = 255;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned local[BINS];
    for (int b = threadIdx.x; b < BINS; b += BLOCK) local[b] = 0;
    __syncthreads();

    for (size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x; i < N; i += (size_t)gridDim.x * BLOCK)
        atomicAdd(local + in[i], 1u);
    __syncthreads();

    for (int b = threadIdx.x; b < BINS; b += BLOCK) atomicAdd(bins + b, local[b]);
}
