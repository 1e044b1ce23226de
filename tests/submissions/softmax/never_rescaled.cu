// Mistake: maximum and sum come from one pass, and the sum stays as it was when the maximum grows.
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
    float maximum = -3.402823466e38f;
    float sum = 0.0f;
    for (int column = 0; column < N; ++column) {
        maximum = fmaxf(maximum, x[column]);
        sum += expf(x[column] - maximum);
    }
    for (int column = 0; column < N; ++column) {
        y[column] = expf(x[column] - maximum) / sum;
    }
}
