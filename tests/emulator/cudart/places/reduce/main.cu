// The sum of a block reads partial sums of 32 warps, where there are four.
#include "block_reduce.cuh"

__global__ void sum(const float *in, float *out)
{
    const float x = BlockReduce<128>::sum(in[threadIdx.x]);  // CALL: sum
    if (threadIdx.x == 0)
        *out = x;
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 128 * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMemset(in, 0, 128 * sizeof(float));
    sum<<<1, 128>>>(in, out);  // LAUNCH: sum
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
