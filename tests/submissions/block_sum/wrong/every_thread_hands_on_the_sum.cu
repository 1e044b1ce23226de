// A right tree, and then all threads of the block add its sum to the output.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float sums[256];
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    sums[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    atomicAdd(out, sums[0]);
}
