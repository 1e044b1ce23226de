// Mistake: a thread takes a column, and the softmax is that of columns.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 64;

extern "C" __global__ void softmax(const float* in, float* out, int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) {
        return;
    }
    const float* const x = in + column;
    float* const y = out + column;
    float maximum = -INFINITY;
    for (int row = 0; row < M; ++row) {
        maximum = fmaxf(maximum, x[size_t(row) * N]);
    }
    float sum = 0.0f;
    for (int row = 0; row < M; ++row) {
        sum += expf(x[size_t(row) * N] - maximum);
    }
    for (int row = 0; row < M; ++row) {
        y[size_t(row) * N] = expf(x[size_t(row) * N] - maximum) / sum;
    }
}
