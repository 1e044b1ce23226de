// One thread takes one row, and goes over it three times: for the maximum, for the sum of exp(x - max),
// and to write exp(x - max) / sum. This is the definition and nothing else.
//
// Why the maximum: exp(89) is infinite in FP32, and the quotient of two infinities is NaN. Divided by
// exp(max) above and below, the fraction is the same number, its largest term is 1 and the sum at
// least 1. What becomes zero is too small to count.
//
// What it costs: every element is read three times. Neighbouring threads stand in neighbouring rows,
// 4·N bytes apart, so that a load request touches 32 sectors and uses 4 bytes of each, and a store
// likewise. And there are only as many threads as rows.
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
    const float* const x = in + size_t(row) * N;
    float* const y = out + size_t(row) * N;

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
