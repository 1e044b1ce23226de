// PRINTS: 0 1 4 9
#include "check.h"

__global__ void square(int *x) { x[threadIdx.x] *= x[threadIdx.x]; }

int main() {
    int *x, device;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaMallocManaged(&x, 4 * sizeof(int)));
    for (int i = 0; i < 4; i++)
        x[i] = i;
    CHECK(cudaMemAdvise(x, 4 * sizeof(int), cudaMemAdviseSetPreferredLocation, device));
    CHECK(cudaMemPrefetchAsync(x, 4 * sizeof(int), device));
    square<<<1, 4>>>(x);
    CHECK(cudaMemPrefetchAsync(x, 4 * sizeof(int), cudaCpuDeviceId));
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d %d\n", x[0], x[1], x[2], x[3]);
    CHECK(cudaFree(x));
}
