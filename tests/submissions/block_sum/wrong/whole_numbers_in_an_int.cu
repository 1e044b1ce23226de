// Where all numbers of a block are whole and at most 2^24, they are added as ints: 2048 numbers of 2^24 are 2^35,
// and an int ends at 2^31. Wrong for 2048 whole numbers of 2,000,000. Contract: any floats.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, 2048)"]
// block = [256]
// zero = ["out"]
// ///
extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[8];
    __shared__ int whole_sums[8];
    float x[8], sum = 0.0f;
    int whole_sum = 0;
    bool whole = true;
    for (int j = 0; j < 8; ++j) {
        const size_t i = size_t(blockIdx.x) * 2048 + j * 256 + threadIdx.x;
        x[j] = i < N ? in[i] : 0.0f;
        whole = whole && x[j] == rintf(x[j]) && fabsf(x[j]) <= 16777216.0f;
    }
    const int all = __syncthreads_and(whole);
    for (int j = 0; j < 8; ++j) {
        if (all) whole_sum += int(x[j]);
        else sum += x[j];
    }
    for (int d = 16; d; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
        whole_sum += __shfl_xor_sync(0xffffffff, whole_sum, d);
    }
    if (threadIdx.x % 32 == 0) { sums[threadIdx.x / 32] = sum; whole_sums[threadIdx.x / 32] = whole_sum; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) { sum += sums[w]; whole_sum += whole_sums[w]; }
        atomicAdd(out, all ? float(whole_sum) : sum);
    }
}
