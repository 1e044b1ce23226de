// Each thread counts a run of bytes for itself, in counters that end at 255.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, THREADS * RUN)"]
// block = ["THREADS"]
// zero = ["bins"]
// ///

constexpr int THREADS = 64;
constexpr int RUN = 1024;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    unsigned char own[256];
    for (int b = 0; b < 256; ++b)
        own[b] = 0;

    const long long begin = ((long long)blockIdx.x * THREADS + threadIdx.x) * RUN;
    for (long long i = begin; i < begin + RUN && i < N; ++i)
        own[in[i]]++;

    for (int b = 0; b < 256; ++b)
        if (own[b] != 0)
            atomicAdd(bins + b, (unsigned)own[b]);
}
