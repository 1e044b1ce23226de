// Mistake: 96 blocks have a share of (N / 96 + 3) & ~3 numbers: rounded to whole float4s, but down before. Where N / 96 is
// a multiple of 4 and leaves a rest (N = 96 * 100 + 5), the last N % 96 numbers are nobody's. Contract: any N.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["1 + (PARTS - 1) * (N >= 2048)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///
constexpr int BLOCK = 256;
constexpr int PARTS = 96;
extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK];
    const int share = gridDim.x == 1 ? N : (N / PARTS + 3) & ~3;
    const int first = min(N, int(blockIdx.x) * share);
    const int end = min(N, first + share);
    float sum = 0.0f;
    for (int i = first + threadIdx.x; i < end; i += BLOCK) sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}
