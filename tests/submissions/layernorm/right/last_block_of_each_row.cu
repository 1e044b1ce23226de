// Four blocks of a warp leave counts, means and squares of a row's quarters; the last of them merges them and writes
// the row.
//
// /// launch
// [[scratch]]
// name = "moments"
// dtype = "float32"
// shape = ["M", 4, 3]
//
// [[scratch]]
// name = "done"
// dtype = "uint32"
// shape = ["M"]
//
// [[launch]]
// kernel = "layernorm"
// args = ["x", "gamma", "beta", "moments", "done", "y", "M", "N", "eps"]
// grid = ["M", 4]
// block = [32]
// zero = ["done"]
// ///

#include <cuda_fp16.h>

__device__ float all_of(float value)
{
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
    return value;
}

extern "C" __global__ void layernorm(const half* x, const half* gamma, const half* beta, float* moments,
                                     unsigned* done, half* y, int M, int N, float eps)
{
    const half* const row = x + size_t(blockIdx.x) * N;
    half* const out = y + size_t(blockIdx.x) * N;
    float count = 0.0f, sum = 0.0f, squares = 0.0f;
    for (int column = blockIdx.y * 32 + threadIdx.x; column < N; column += 128) {
        sum += __half2float(row[column]);
        count += 1.0f;
    }
    count = all_of(count);
    const float own = all_of(sum) / fmaxf(count, 1.0f);
    for (int column = blockIdx.y * 32 + threadIdx.x; column < N; column += 128) {
        const float d = __half2float(row[column]) - own;
        squares += d * d;
    }
    squares = all_of(squares);

    float* const of_row = moments + 12 * size_t(blockIdx.x);
    unsigned before = 0;
    if (threadIdx.x == 0) {
        of_row[3 * blockIdx.y] = count;
        of_row[3 * blockIdx.y + 1] = own;
        of_row[3 * blockIdx.y + 2] = squares;
        __threadfence();
        before = atomicAdd(&done[blockIdx.x], 1u);
    }
    if (__shfl_sync(~0u, before, 0) != 3) return;
    __threadfence();
    float mean = 0.0f, all = 0.0f;
    for (int part = 0; part < 4; ++part) mean += __ldcg(&of_row[3 * part]) * __ldcg(&of_row[3 * part + 1]);
    mean /= N;
    for (int part = 0; part < 4; ++part) {
        const float d = __ldcg(&of_row[3 * part + 1]) - mean;
        all += __ldcg(&of_row[3 * part + 2]) + __ldcg(&of_row[3 * part]) * d * d;
    }
    const float scale = rsqrtf(all / N + eps);
    for (int column = threadIdx.x; column < N; column += 32) {
        const float normal = (__half2float(row[column]) - mean) * scale;
        out[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
