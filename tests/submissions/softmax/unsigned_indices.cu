// Wrong: An unsigned holds the place of a row, which overflows beyond 2^32 elements.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 32;  // threads of a block, and rows that it computes

// out[i] = the softmax of row i of `in`; both are M × N, row-major.
extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out,
                                   int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    // The product of a row index and a row length is formed in 64 bits (size_t).
    const float* const x = in + unsigned(row) * N;
    float* const y = out + unsigned(row) * N;

    float maximum = x[0];
    for (int column = 1; column < N; ++column) {
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
