// Asks for the time of an event before anything has waited for it.
#include <cstdio>

__global__ void nothing() {}

int main() {
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    nothing<<<1, 1>>>();
    cudaEventRecord(stop);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);  // BUG
    cudaDeviceSynchronize();
    printf("%g ms\n", ms);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
}
