// Asks for the time since an event that was never recorded.
#include <cstdio>

__global__ void nothing() {}

int main() {
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    nothing<<<1, 1>>>();
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);  // BUG
    printf("%g ms\n", ms);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
}
