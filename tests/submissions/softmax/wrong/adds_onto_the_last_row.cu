// A block goes on to further rows, and the sum goes on with it.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["min(M, 64)"]
// block = ["WARP"]
// ///

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffff;

extern "C" __global__ void softmax(const float* in, float* out, int M, int N)
{
    float sum = 0.0f;
    for (int row = blockIdx.x; row < M; row += gridDim.x) {
        const float* const x = in + size_t(row) * N;
        float* const y = out + size_t(row) * N;
        float maximum = -INFINITY;
        for (int column = threadIdx.x; column < N; column += WARP) maximum = fmaxf(maximum, x[column]);
        for (int d = 16; d > 0; d /= 2) maximum = fmaxf(maximum, __shfl_xor_sync(ALL, maximum, d));
        for (int column = threadIdx.x; column < N; column += WARP) sum += expf(x[column] - maximum);
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
        for (int column = threadIdx.x; column < N; column += WARP) y[column] = expf(x[column] - maximum) / sum;
    }
}
