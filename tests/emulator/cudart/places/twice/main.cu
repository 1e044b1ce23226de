// A device function that uses shared memory is inlined twice: the second call overwrites what the first one reads.
#include "kernels/smooth.cuh"

int main()
{
    float *in, *out;
    cudaMalloc(&in, 128 * sizeof(float));
    cudaMalloc(&out, 128 * sizeof(float));
    cudaMemset(in, 0x3f, 64 * sizeof(float));
    cudaMemset(in + 64, 0x40, 64 * sizeof(float));
    smooth<<<1, 128>>>(in, out);  // LAUNCH: smooth
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
