// CUB's histogram of bytes with counts of 32 bits, to be called from Python: what `histogram.py` compares rungs with.

#include <cub/device/device_histogram.cuh>

// bins[b] = how many of the N bytes of `in` are b. Both lie on the device. Clearing the 256 bins is a part of what CUB
// does. With `work` null nothing is done but to say how many bytes of it are needed. Returns a cudaError_t.
extern "C" int cub_histogram(void* work, size_t* work_bytes, const unsigned char* in, unsigned* bins, int N)
{
    constexpr int edges = 257;  // of 256 bins
    return cub::DeviceHistogram::HistogramEven(work, *work_bytes, in, bins, edges, 0, 256, N);
}
