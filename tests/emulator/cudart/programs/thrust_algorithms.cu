// PRINTS: sum 1498500, wrong 0
// Thrust's vectors and algorithms.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cstdio>

struct Twice {
    __host__ __device__ int operator()(int value) const { return 2 * value; }
};

int main() {
    const int n = 3000;
    thrust::host_vector<int> values(n);
    for (int i = 0; i < n; i++)
        values[i] = i * 7919 % 1000;
    thrust::device_vector<int> keys = values, doubled(n);
    const int sum = thrust::reduce(keys.begin(), keys.end());
    thrust::transform(keys.begin(), keys.end(), doubled.begin(), Twice());
    thrust::sort(keys.begin(), keys.end());
    const thrust::host_vector<int> sorted = keys, products = doubled;
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += products[i] != 2 * values[i];
    for (int i = 1; i < n; i++)
        wrong += sorted[i - 1] > sorted[i];
    printf("sum %d, wrong %d\n", sum, wrong);
}
