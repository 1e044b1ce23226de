// PRINTS: 12 7.5 -3
#include "check.h"

template <typename T, int FACTOR>
__global__ void scale(T *x) {
    *x *= FACTOR;
}

template <typename T, int FACTOR>
T scaled(T value) {
    T *d_value;
    CHECK(cudaMalloc(&d_value, sizeof(T)));
    CHECK(cudaMemcpy(d_value, &value, sizeof(T), cudaMemcpyDefault));
    scale<T, FACTOR><<<1, 1>>>(d_value);
    CHECK(cudaMemcpy(&value, d_value, sizeof(T), cudaMemcpyDefault));
    CHECK(cudaFree(d_value));
    return value;
}

int main() { printf("%d %g %lld\n", scaled<int, 4>(3), scaled<double, 3>(2.5), scaled<long long, -1>(3)); }
