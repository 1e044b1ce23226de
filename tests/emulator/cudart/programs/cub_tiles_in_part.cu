// PRINTS: int 1, long 1, flags 1, pairs 1
// CUB's tiles in part: it stores items beyond the end, which it has not loaded, and throws them away later.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <iterator>
#include <vector>

#include "check.h"

struct Even {
    __host__ __device__ bool operator()(long long value) const { return value % 2 == 0; }
};

template <typename Algorithm> void run(Algorithm algorithm) {
    void *temporary = nullptr;
    size_t bytes = 0;
    CHECK(algorithm(temporary, bytes));
    CHECK(cudaMalloc(&temporary, bytes));
    CHECK(algorithm(temporary, bytes));
    CHECK(cudaFree(temporary));
}

template <typename T> T *on_device(const std::vector<T> &values) {
    T *device;
    CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T> bool holds(const T *device, const std::vector<T> &expected) {
    std::vector<T> found(expected.size());
    CHECK(cudaMemcpy(found.data(), device, found.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return found == expected;
}

template <typename T, typename Select> bool selected(const std::vector<T> &values, Select select) {
    std::vector<T> expected;
    std::copy_if(values.begin(), values.end(), std::back_inserter(expected), Even());
    T *in = on_device(values), *out = on_device(values);
    int *count = on_device(std::vector<int>{0});
    run([=](void *t, size_t &bytes) { return select(t, bytes, in, out, count); });
    const bool right = holds(count, {int(expected.size())}) && holds(out, expected);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(count));
    return right;
}

int main() {
    const int n = 5003;
    std::vector<int> values(n), places(n), sorted;
    std::vector<char> flags(n);
    for (int i = 0; i < n; i++) {
        values[i] = i * 7919 % n;
        places[i] = i;
        flags[i] = values[i] % 2 == 0;
    }
    const auto even = [](void *t, size_t &bytes, auto *in, auto *out, int *count) {
        return cub::DeviceSelect::If(t, bytes, in, out, count, n, Even());
    };
    const bool ints = selected(values, even);
    const bool longs = selected(std::vector<long long>(values.begin(), values.end()), even);

    char *flagged = on_device(flags);
    const bool by_flag = selected(values, [=](void *t, size_t &bytes, int *in, int *out, int *count) {
        return cub::DeviceSelect::Flagged(t, bytes, in, flagged, out, count, n);
    });
    CHECK(cudaFree(flagged));

    int *keys = on_device(values), *ordered = on_device(values), *from = on_device(places), *to = on_device(places);
    run([=](void *t, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(t, bytes, keys, ordered, from, to, n);
    });
    sorted.resize(n);
    for (int i = 0; i < n; i++)
        sorted[values[i]] = i;
    const bool pairs = holds(ordered, places) && holds(to, sorted);
    for (int *device : {keys, ordered, from, to})
        CHECK(cudaFree(device));
    printf("int %d, long %d, flags %d, pairs %d\n", ints, longs, by_flag, pairs);
}
