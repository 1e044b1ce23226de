// Mistake: what is not greater than -∞ counts as masked, and so does NaN, which has to reach the whole row.
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
        sum += x[column] > -INFINITY ? expf(x[column] - maximum) : 0.0f;
    }
    for (int column = 0; column < N; ++column) {
        y[column] = (x[column] > -INFINITY ? expf(x[column] - maximum) : 0.0f) / sum;
    }
}
