// A policy keeps what it has accepted in an array of four, and forgets to look whether that is full.
#include "largest.cuh"

__global__ void select(const float *in, int n, float *out)
{
    Accepted<4> found(out[threadIdx.x]);
    for (int i = 0; i < n; i++)
        found.offer(in[i]);  // CALL 2: select
    out[threadIdx.x] = found.sum();
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 16 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(in, 0x3f, 16 * sizeof(float));
    cudaMemset(out, 0, 32 * sizeof(float));
    select<<<1, 32>>>(in, 16, out);  // LAUNCH: select
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
