// PRINTS: 0 3 6 9
#include "check.h"

__global__ void triple(int *x) { x[threadIdx.x] *= 3; }

int main() {
    int *h_x, *d_x;
    CHECK(cudaHostAlloc(&h_x, 4 * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < 4; i++)
        h_x[i] = i;
    CHECK(cudaHostGetDevicePointer(&d_x, h_x, 0));
    triple<<<1, 4>>>(d_x);
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d %d\n", h_x[0], h_x[1], h_x[2], h_x[3]);
    CHECK(cudaFreeHost(h_x));
}
