// PRINTS: some time has passed
#include "check.h"

__global__ void work(float *x) {
    for (int i = 0; i < 100; i++)
        x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1;
}

int main() {
    float *d_x, ms = 0;
    cudaEvent_t start, stop;
    CHECK(cudaMalloc(&d_x, 256 * sizeof(float)));
    CHECK(cudaMemset(d_x, 0, 256 * sizeof(float)));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start));
    work<<<1, 256>>>(d_x);
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    printf(ms > 0 ? "some time has passed\n" : "no time has passed\n");
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(d_x));
}
