// PRINTS: largest error 0
#include "check.h"
#include <cmath>

struct Pair {
    float x, y;
};

__global__ void add(Pair *pairs, float *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = pairs[i].x + pairs[i].y;
}

int main() {
    const int n = 5000;
    Pair *pairs;
    float *out;
    CHECK(cudaMallocManaged(&pairs, n * sizeof(Pair)));
    CHECK(cudaMallocManaged(&out, n * sizeof(float)));
    for (int i = 0; i < n; i++)
        pairs[i] = {1.0f, 2.0f};
    add<<<4, 256>>>(pairs, out, n);
    CHECK(cudaDeviceSynchronize());
    float worst = 0;
    for (int i = 0; i < n; i++)
        worst = fmaxf(worst, fabsf(out[i] - 3.0f));
    printf("largest error %g\n", worst);
    CHECK(cudaFree(pairs));
    CHECK(cudaFree(out));
}
