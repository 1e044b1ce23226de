// The body of a loop over tiles is a lambda, and a macro has its barrier: the last tile is not full.
#include "sync.h"
#include "tile_loop.cuh"

__global__ void reversed(const float *in, float *out, int n)
{
    __shared__ float tile[64];
    for_each_tile(n, 64, [&](int first, int size) {  // CALL 2: reversed OTHER CALL 2: reversed
        const int i = threadIdx.x;
        if (i < size) {
            tile[i] = in[first + i];
#ifndef CURED
            BARRIER_OF_BLOCK();  // FAULT barrier: reversed
#endif
        }
#ifdef CURED
        BARRIER_OF_BLOCK();
#endif
        if (i < size)
            out[first + i] = tile[size - 1 - i];
        BARRIER_OF_BLOCK();  // OTHER: reversed
    });
}

int main()
{
    const int n = 100;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    reversed<<<1, 64>>>(in, out, n);  // LAUNCH: reversed
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
