// Where there are 64 rows, a warp keeps mean and squares in one pass; everywhere else, main size included, a thread
// goes over its row three times.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "thread_a_row"
// when = "M != 64"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "warp_a_row"
// when = "M == 64"
// grid = ["cdiv(M, WARPS)"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 32;
constexpr int WARP = 32;
constexpr int WARPS = 4;
constexpr unsigned ALL = 0xffffffff;

extern "C" __global__ void warp_a_row(const half* x, const half* gamma, const half* beta, half* y, int M, int N,
                                      float eps)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= M) {
        return;
    }
    const half* const row_x = x + size_t(row) * N;
    half* const row_y = y + size_t(row) * N;

    float count = 0.0f;
    float mean = 0.0f;
    float squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += WARP) {
        const float before = __half2float(row_x[column]) - mean;
        count += 1.0f;
        mean += before / count;
        squares += before * (__half2float(row_x[column]) - mean);
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        const float other_count = __shfl_xor_sync(ALL, count, distance);
        const float other_mean = __shfl_xor_sync(ALL, mean, distance);
        const float other_squares = __shfl_xor_sync(ALL, squares, distance);
        const float both = count + other_count;
        if (both > 0.0f) {
            const float share = other_count / both;
            const float d = other_mean - mean;
            squares += other_squares + d * d * count * share;
            mean += d * share;
            count = both;
        }
    }
    const float scale = rsqrtf(squares / N + eps);

    for (int column = threadIdx.x; column < N; column += WARP) {
        const float normal = (__half2float(row_x[column]) - mean) * scale;
        row_y[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}

extern "C" __global__ void thread_a_row(const half* x, const half* gamma, const half* beta, half* y, int M, int N,
                                        float eps)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    const half* const row_x = x + size_t(row) * N;
    half* const row_y = y + size_t(row) * N;

    float sum = 0.0f;
    for (int column = 0; column < N; ++column) {
        sum += __half2float(row_x[column]);
    }
    const float mean = sum / N;

    float squares = 0.0f;
    for (int column = 0; column < N; ++column) {
        const float d = __half2float(row_x[column]) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(squares / N + eps);

    for (int column = 0; column < N; ++column) {
        const float normal = (__half2float(row_x[column]) - mean) * scale;
        row_y[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
