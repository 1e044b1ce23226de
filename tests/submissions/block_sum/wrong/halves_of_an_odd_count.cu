// Blocks of 96 threads, halved: 96, 48, 24, 12, 6, 3, 1. In the step from 3 to 1 a sum is lost.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, 96)"]
// block = [96]
// zero = ["out"]
// ///

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float sums[96];
    const size_t i = size_t(blockIdx.x) * 96 + threadIdx.x;
    sums[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();
    for (int half = 48; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}
