// PRINTS: 35 from the device, 36 with the host
// PRINTS: table ends with 31, pointer to 40
// PRINTS: symbol at its own address 1, managed 1
#include "check.h"

struct Node {
    int *next;
    int value;
};

__managed__ int total = 3;
__managed__ float table[5000];
__managed__ int far = 40;
__managed__ Node node;

__global__ void count() {
    atomicAdd(&total, 1);
    table[threadIdx.x] = threadIdx.x;
    node.value = *node.next;
}

int main() {
    node.next = &far;
    count<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    printf("%d from the device, ", total);
    total++;
    int copy = 0;
    CHECK(cudaMemcpyFromSymbol(&copy, total, sizeof copy));
    printf("%d with the host\n", copy);
    printf("table ends with %g, pointer to %d\n", table[31], node.value);
    int *address;
    CHECK(cudaGetSymbolAddress((void **)&address, total));
    cudaPointerAttributes about;
    CHECK(cudaPointerGetAttributes(&about, &total));
    printf("symbol at its own address %d, managed %d\n", address == &total, about.type == cudaMemoryTypeManaged);
}
