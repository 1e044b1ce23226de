// Wrong: the index of a row's first element is an int, which ends at 2^31 - 1.
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
    const float* const x = in + row * N;
    float* const y = out + row * N;
    float maximum = -INFINITY;
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
