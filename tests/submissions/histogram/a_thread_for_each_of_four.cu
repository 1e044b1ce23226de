// Four bytes a thread, on a grid that has a thread for each byte.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const int i = (blockIdx.x * BLOCK + threadIdx.x) * 4;
    for (int j = i; j < i + 4 && j < N; ++j) {
        atomicAdd(&bins[in[j]], 1u);
    }
}
