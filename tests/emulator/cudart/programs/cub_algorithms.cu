// PRINTS: sum 1, scan 1, histogram 1, sort 1
// CUB's algorithms for the whole device, each asked for the size of its temporary memory first, then run.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"

template <typename Algorithm> void run(Algorithm algorithm) {
    void *temporary = nullptr;
    size_t bytes = 0;
    CHECK(algorithm(temporary, bytes));
    CHECK(cudaMalloc(&temporary, bytes));
    CHECK(algorithm(temporary, bytes));
    CHECK(cudaFree(temporary));
}

std::vector<int> fetched(const int *device, size_t count) {
    std::vector<int> host(count);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    return host;
}

int main() {
    const int n = 5000, bins = 10;
    std::vector<int> values(n);
    for (int i = 0; i < n; i++)
        values[i] = i * 7919 % 1000;
    int *in, *out;
    CHECK(cudaMalloc(&in, n * sizeof(int)));
    CHECK(cudaMalloc(&out, n * sizeof(int)));
    CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    run([=](void *t, size_t &bytes) { return cub::DeviceReduce::Sum(t, bytes, in, out, n); });
    const bool sum = fetched(out, 1)[0] == std::accumulate(values.begin(), values.end(), 0);

    run([=](void *t, size_t &bytes) { return cub::DeviceScan::ExclusiveSum(t, bytes, in, out, n); });
    std::vector<int> expected(n);
    std::exclusive_scan(values.begin(), values.end(), expected.begin(), 0);
    const bool scan = fetched(out, n) == expected;

    run([=](void *t, size_t &bytes) {
        return cub::DeviceHistogram::HistogramEven(t, bytes, in, out, bins + 1, 0, 1000, n);
    });
    expected.assign(bins, 0);
    for (int value : values)
        expected[value / (1000 / bins)]++;
    const bool histogram = fetched(out, bins) == expected;

    run([=](void *t, size_t &bytes) { return cub::DeviceRadixSort::SortKeys(t, bytes, in, out, n); });
    expected = values;
    std::sort(expected.begin(), expected.end());
    const bool sort = fetched(out, n) == expected;

    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    printf("sum %d, scan %d, histogram %d, sort %d\n", sum, scan, histogram, sort);
}
