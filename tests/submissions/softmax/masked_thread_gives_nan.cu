// Mistake: a thread that sees nothing but masked elements has the maximum -∞, and subtracts it from itself.
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
    float own = -INFINITY;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += WARP) {
        const float larger = fmaxf(own, x[column]);
        sum = sum * expf(own - larger) + expf(x[column] - larger);
        own = larger;
    }
    float maximum = own;
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        maximum = fmaxf(maximum, __shfl_xor_sync(ALL, maximum, distance));
    }
    sum *= expf(own - maximum);
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(ALL, sum, distance);
    }
    for (int column = threadIdx.x; column < N; column += WARP) {
        y[column] = expf(x[column] - maximum) / sum;
    }
}
