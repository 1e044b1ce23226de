// PRINTS: launched
// PRINTS: block 0, thread 0: 1.50
// PRINTS: block 0, thread 1: 1.50
// PRINTS: done
#include "check.h"

__global__ void hello(float value) { printf("block %d, thread %d: %.2f\n", blockIdx.x, threadIdx.x, value); }

int main() {
    hello<<<1, 2>>>(1.5f);
    printf("launched\n");  // before what the kernel prints: that waits for the next synchronisation
    CHECK(cudaDeviceSynchronize());
    printf("done\n");
}
