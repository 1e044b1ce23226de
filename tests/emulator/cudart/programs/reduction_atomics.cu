// PRINTS: 49995000
#include "check.h"
#include <numeric>
#include <vector>

__global__ void sum(const int *x, int n, int *result) {
    __shared__ int part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(result, part[0]);
}

int main() {
    const int n = 10000;
    std::vector<int> x(n);
    std::iota(x.begin(), x.end(), 0);
    int *d_x, *d_result, result;
    CHECK(cudaMalloc(&d_x, n * sizeof(int)));
    CHECK(cudaMalloc(&d_result, sizeof(int)));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_result, 0, sizeof(int)));
    sum<<<(n + 255) / 256, 256>>>(d_x, n, d_result);
    CHECK(cudaMemcpy(&result, d_result, sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d\n", result);
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_result));
}
