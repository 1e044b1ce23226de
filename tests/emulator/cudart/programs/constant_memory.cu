// PRINTS: 10 30 60 100, counted 4, scaled by 10
#include "check.h"

__constant__ int weights[4];
__device__ int counter;
__device__ int scale = 10;

__global__ void apply(int *out) {
    int sum = 0;
    for (int i = 0; i <= threadIdx.x; i++)
        sum += weights[i];
    out[threadIdx.x] = sum * scale;
    atomicAdd(&counter, 1);
}

int main() {
    const int h_weights[4] = {1, 2, 3, 4};
    int *d_out, out[4], counted, factor;
    CHECK(cudaMemcpyToSymbol(weights, h_weights, sizeof h_weights));
    CHECK(cudaMalloc(&d_out, sizeof out));
    apply<<<1, 4>>>(d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
    int *address;
    CHECK(cudaGetSymbolAddress((void **)&address, scale));
    CHECK(cudaMemcpy(&factor, address, sizeof factor, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d, counted %d, scaled by %d\n", out[0], out[1], out[2], out[3], counted, factor);
    CHECK(cudaFree(d_out));
}
