// PRINTS: 3000
// The host and the kernel add to one number at the same time, each by atomics of system scope.
#include "check.h"

__global__ void add(int *total) { atomicAdd_system(total, 2); }

int main() {
    int *total;
    CHECK(cudaMallocManaged(&total, sizeof(int)));
    *total = 0;
    add<<<4, 250>>>(total);
    for (int i = 0; i < 1000; i++)
        __atomic_fetch_add(total, 1, __ATOMIC_SEQ_CST);
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", *total);
    CHECK(cudaFree(total));
}
