// The block that draws the last number of its columns adds up the parts of all, with no fence before it draws.
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["cdiv(M, BAND)", 2, "N"]
//
// [[scratch]]
// name = "done"
// dtype = "uint32"
// shape = ["cdiv(N, BLOCK)"]
//
// [[launch]]
// kernel = "input_gradient"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "M", "N"]
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "parameter_gradients"
// args = ["x", "dy", "mean", "rstd", "parts", "done", "dgamma", "dbeta", "M", "N"]
// grid = ["cdiv(M, BAND)", "cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["done"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 32;  // threads of a block, each with a row or a column
constexpr int BAND = 16;   // rows of a band

extern "C" __global__ void input_gradient(const half* x, const half* dy, const half* gamma, const float* mean,
                                          const float* rstd, half* dx, int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    const half* const row_x = x + size_t(row) * N;
    const half* const row_dy = dy + size_t(row) * N;
    half* const row_dx = dx + size_t(row) * N;
    const float m = mean[row];
    const float r = rstd[row];

    float sum_g = 0.0f;
    float sum_gn = 0.0f;
    for (int column = 0; column < N; ++column) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        sum_g += g;
        sum_gn += g * n;
    }
    const float mean_g = sum_g / N;
    const float mean_gn = sum_gn / N;

    for (int column = 0; column < N; ++column) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        row_dx[column] = __float2half((g - mean_g - n * mean_gn) * r);
    }
}

extern "C" __global__ void parameter_gradients(const half* x, const half* dy, const float* mean,
                                               const float* rstd, float* parts, unsigned* done,
                                               float* dgamma, float* dbeta, int M, int N)
{
    __shared__ bool last;
    const int column = blockIdx.y * BLOCK + threadIdx.x;
    const int first = blockIdx.x * BAND;
    const int end = min(first + BAND, M);
    if (column < N) {
        float sum_dyn = 0.0f;
        float sum_dy = 0.0f;
        for (int row = first; row < end; ++row) {
            const size_t place = size_t(row) * N + column;
            const float n = (__half2float(x[place]) - mean[row]) * rstd[row];
            const float d = __half2float(dy[place]);
            sum_dyn += d * n;
            sum_dy += d;
        }
        parts[size_t(blockIdx.x) * 2 * N + column] = sum_dyn;
        parts[size_t(blockIdx.x) * 2 * N + N + column] = sum_dy;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(&done[blockIdx.y], 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || column >= N) {
        return;
    }
    float sum_dyn = 0.0f;
    float sum_dy = 0.0f;
    for (int part = 0; part < gridDim.x; ++part) {
        sum_dyn += parts[size_t(part) * 2 * N + column];
        sum_dy += parts[size_t(part) * 2 * N + N + column];
    }
    dgamma[column] = sum_dyn;
    dbeta[column] = sum_dy;
}
