// x · log2 e - max · log2 e by one multiply-add: the product of the maximum is rounded, once for the whole row.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["cdiv(M, WARPS)"]
// block = ["WARP", "WARPS"]
// ///

constexpr int WARP = 32;
constexpr int WARPS = 8;
constexpr unsigned ALL = 0xffffffff;

extern "C" __global__ void softmax(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= M) {
        return;
    }
    const float* const x = in + size_t(row) * N;
    float* const y = out + size_t(row) * N;
    float maximum = -INFINITY;
    for (int column = threadIdx.x; column < N; column += WARP) {
        maximum = fmaxf(maximum, x[column]);
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        maximum = fmaxf(maximum, __shfl_xor_sync(ALL, maximum, distance));
    }
    const float most = maximum * 1.44269504f;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += WARP) {
        sum += exp2f(fmaf(x[column], 1.44269504f, -most));
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(ALL, sum, distance);
    }
    for (int column = threadIdx.x; column < N; column += WARP) {
        y[column] = exp2f(fmaf(x[column], 1.44269504f, -most)) / sum;
    }
}
