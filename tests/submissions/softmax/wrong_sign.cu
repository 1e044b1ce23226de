// Mistake: exp(max - x) in place of exp(x - max).
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 64;

extern "C" __global__ void softmax(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    const float* const x = in + size_t(row) * N;
    float* const y = out + size_t(row) * N;
    float maximum = -INFINITY;
    for (int column = 0; column < N; ++column) {
        maximum = fmaxf(maximum, x[column]);
    }
    float sum = 0.0f;
    for (int column = 0; column < N; ++column) {
        sum += expf(maximum - x[column]);
    }
    for (int column = 0; column < N; ++column) {
        y[column] = expf(maximum - x[column]) / sum;
    }
}
