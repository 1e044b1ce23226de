// PRINTS: 99 0, 60000 bytes allowed
#include "check.h"

__global__ void reverse(int *x, int n) {
    extern __shared__ int copy[];
    copy[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = copy[n - 1 - threadIdx.x];
}

int main() {
    const int n = 100;
    int x[n], *d_x;
    for (int i = 0; i < n; i++)
        x[i] = i;
    CHECK(cudaMalloc(&d_x, sizeof x));
    CHECK(cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice));
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    reverse<<<1, n, 60000>>>(d_x, n);
    CHECK(cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost));
    cudaFuncAttributes about;
    CHECK(cudaFuncGetAttributes(&about, reverse));
    printf("%d %d, %d bytes allowed\n", x[0], x[n - 1], about.maxDynamicSharedSizeBytes);
    CHECK(cudaFree(d_x));
}
