// Four bytes a thread. What is left behind them is counted by every thread of the grid.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 4 * BLOCK)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const int n4 = N / 4;
    const int t = blockIdx.x * BLOCK + threadIdx.x;
    const uchar4* in4 = reinterpret_cast<const uchar4*>(in);
    if (t < n4) {
        const uchar4 v = in4[t];
        atomicAdd(&bins[v.x], 1u);
        atomicAdd(&bins[v.y], 1u);
        atomicAdd(&bins[v.z], 1u);
        atomicAdd(&bins[v.w], 1u);
    }
    for (int i = n4 * 4; i < N; ++i) {
        atomicAdd(&bins[in[i]], 1u);
    }
}
