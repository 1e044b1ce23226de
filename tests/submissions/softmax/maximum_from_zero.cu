// Mistake: the search for the maximum begins with 0, which is larger than all elements of some rows.
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
    float maximum = 0.0f;
    for (int column = 0; column < N; ++column) {
        maximum = fmaxf(maximum, x[column]);
    }
    float sum = 0.0f;
    for (int column = 0; column < N; ++column) {
        sum += expf(x[column] - maximum);
    }
    for (int column = 0; column < N; ++column) {
        y[column] = expf(x[column] - maximum) / sum;
    }
}
