#define UNIT 200
#include "../unit.cuh"

static __device__ int value = 3;
static __constant__ int table[2] = {30, 40};

static __global__ void fill(int *p) {
    __shared__ int all[8];
    all[threadIdx.x] = table[1];
    *p = value + all[0] + UNIT;
    p[1] = 0; // FAULT
}

int in_first(int *p) {
    fill<<<1, 1>>>(p); // CALL
    return result_of(p);
}

int shared_bytes_in_first() { return shared_bytes(fill); }
