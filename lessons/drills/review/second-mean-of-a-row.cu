// /// launch
// [[launch]]
// kernel = "layernorm_backward"
// grid = ["cdiv(M, WARPS)"]
// block = [32, "WARPS"]
// zero = ["dgamma", "dbeta"]
// ///
#include <cuda_fp16.h>

constexpr int WARPS = 4;

// Every lane gets the sum of the warp's 32 values.
__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, distance);
    }
    return value;
}

extern "C" __global__ void layernorm_backward(const half* x, const half* dy, const half* gamma,
                                              const float* mean, const float* rstd, half* dx,
                                              float* dgamma, float* dbeta, int M, int N)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= M) {
        return;
    }
    const half* const row_x = x + size_t(row) * N;
    const half* const row_dy = dy + size_t(row) * N;
    const float m = mean[row];
    const float r = rstd[row];

    float sum_g = 0.0f;
    float sum_gn = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float d = __half2float(row_dy[column]);
        const float g = d * __half2float(gamma[column]);
        sum_g += g;
        sum_gn += g * n;
        atomicAdd(&dgamma[column], d * n);
        atomicAdd(&dbeta[column], d);
    }
    const float mean_g = warp_sum(sum_g) / N;
    const float mean_gn = warp_sum(sum_gn) / N;

    for (int column = threadIdx.x; column < N; column += 32) {
        const float centred = __half2float(row_x[column]) - m;  //!
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        dx[size_t(row) * N + column] = __float2half((g - mean_g - centred * mean_gn) * r);  //!
    }
}
