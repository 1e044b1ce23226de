// Three translation units, two of them in files of one name. Their kernels and variables have the same names.
#include "unit.cuh"
#include <cstdio>

int in_first(int *p), in_second(int *p);

static __device__ int value = 1;
static __constant__ int table[2] = {10, 20};
__managed__ int seen;

static __global__ void fill(int *p) {
    *p = value + table[0] + UNIT;
    seen = *p;
}

static int own(int *p) {
    const int more = 2;
    cudaMemcpyToSymbol(value, &more, sizeof more);
    fill<<<1, 1>>>(p);
    return result_of(p);
}

int main() {
    int *p;
    cudaMalloc(&p, 4);
    const int sum = own(p);
    std::printf("%d %d %d %d\n", sum, seen, in_first(p), in_second(p));
    std::printf("%d %d %d\n", shared_bytes(fill), shared_bytes_in_first(), shared_bytes_in_second());
    cudaFree(p);
}
