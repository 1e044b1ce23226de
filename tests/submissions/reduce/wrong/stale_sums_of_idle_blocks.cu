// Mistake: from 65536 numbers on 264 blocks have cdiv(N, 264) numbers each and leave a sum in scratch; a block that has
// none returns early, and the second launch adds all 264: where the last block has none (N = 65740: shares of 250, 263
// blocks) it adds what was left in memory. Contract: any N.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = [264]
//
// [[launch]]
// kernel = "parts"
// args = ["in", "sums", "N", "1 + (PARTS - 1) * (N >= 65536)"]
// grid = ["1 + (PARTS - 1) * (N >= 65536)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "all"
// args = ["sums", "out", "1 + (PARTS - 1) * (N >= 65536)"]
// grid = [1]
// block = ["BLOCK"]
// ///
constexpr int BLOCK = 256;
constexpr int PARTS = 264;
__device__ float of_block(float sum)
{
    __shared__ float sums[BLOCK];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
        __syncthreads();
    }
    return sums[0];
}
extern "C" __global__ void parts(const float* __restrict__ in, float* __restrict__ sums, int N, int blocks)
{
    const int share = (N + blocks - 1) / blocks;
    const long long first = (long long)blockIdx.x * share;
    if (first >= N) return;
    float sum = 0.0f;
    for (long long i = first + threadIdx.x; i < first + share && i < N; i += BLOCK) sum += in[i];
    sum = of_block(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
extern "C" __global__ void all(const float* __restrict__ sums, float* __restrict__ out, int blocks)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < blocks; i += BLOCK) sum += sums[i];
    sum = of_block(sum);
    if (threadIdx.x == 0) out[0] = sum;
}
