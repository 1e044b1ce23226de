#define UNIT 300
#include "../unit.cuh"

static __device__ int value = 4;
static __constant__ int table[2] = {50, 60};

static __global__ void fill(int *p, int more) {
    __shared__ int all[16];
    all[threadIdx.x] = table[0];
    *p = value + all[0] + UNIT + more;
}

int in_second(int *p) {
    const int known = 5;
    cudaMemcpyToSymbol(value, &known, sizeof known);
    fill<<<1, 1>>>(p, 1000);
    return result_of(p);
}

int shared_bytes_in_second() { return shared_bytes(fill); }
