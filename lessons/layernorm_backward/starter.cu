// The gradients of a layer norm: dx for each element, dgamma and dbeta for each column. Your kernels go
// here; replace this comment by their idea in a sentence.
//
// The block below says how the kernels are launched: in this order, one after the other. Sizes (M, N) and
// the file's constexprs may be used in its expressions, and cdiv(a, b) is a / b rounded up.
//
// /// launch
// [[launch]]
// kernel = "input_gradient"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "M", "N"]
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "parameter_gradients"
// args = ["x", "dy", "mean", "rstd", "dgamma", "dbeta", "M", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 128;  // threads of a block, each with a row or a column

// x, dy and dx are M × N, row-major: x[row][column] is x[row * N + column]. gamma has N elements, one for
// each column; mean and rstd have M, one for each row, as the forward pass has saved them. x, dy, gamma
// and dx are halves: __half2float(h) makes a float of one, and __float2half(f) a half of a float.
//
// One thread a row. With n = (x - mean) · rstd and g = dy · gamma,
// dx = rstd · (g - mean of g - n · mean of g · n), where the means are those of the row.
extern "C" __global__ void input_gradient(const half* x, const half* dy, const half* gamma, const float* mean,
                                          const float* rstd, half* dx, int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;

    // The last block reaches beyond the last row. Its threads out there must not touch memory.
    if (row >= M) {
        return;
    }

    // size_t has 64 bits: a large matrix has more elements than an int can count.
    const half* const row_x = x + size_t(row) * N;
    const half* const row_dy = dy + size_t(row) * N;
    half* const row_dx = dx + size_t(row) * N;

    float sum_g = 0.0f;
    float sum_gn = 0.0f;
    for (int column = 0; column < N; ++column) {
        const float n = (__half2float(row_x[column]) - mean[row]) * rstd[row];
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        sum_g += g;
        sum_gn += g * n;
    }

    for (int column = 0; column < N; ++column) {
        const float n = (__half2float(row_x[column]) - mean[row]) * rstd[row];
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        row_dx[column] = __float2half((g - sum_g / N - n * (sum_gn / N)) * rstd[row]);
    }
}

// One thread a column: dgamma = sum of dy · n, and dbeta = sum of dy, both over all rows.
extern "C" __global__ void parameter_gradients(const half* x, const half* dy, const float* mean,
                                               const float* rstd, float* dgamma, float* dbeta, int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) {
        return;
    }

    // TODO: add up this column, row by row, as floats.
    dgamma[column] = 0.0f;
    dbeta[column] = 0.0f;
}
