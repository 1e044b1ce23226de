// Mistake: no barrier between the steps of the tree.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["M"]
// block = ["BLOCK"]
// ///

#include <cuda_bf16.h>

constexpr int BLOCK = 256;

__device__ float block_sum(float value, float* values)
{
    values[threadIdx.x] = value;
    __syncthreads();
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) {
            values[threadIdx.x] += values[threadIdx.x + distance];
        }
    }
    __syncthreads();
    return values[0];
}

extern "C" __global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual,
                                   const __nv_bfloat16* gamma, __nv_bfloat16* y, __nv_bfloat16* sum,
                                   int M, int N, float eps)
{
    __shared__ float values[BLOCK];
    const size_t start = size_t(blockIdx.x) * N;

    float squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float s = __bfloat162float(x[start + column]) + __bfloat162float(residual[start + column]);
        const __nv_bfloat16 stored = __float2bfloat16(s);
        sum[start + column] = stored;
        squares += __bfloat162float(stored) * __bfloat162float(stored);
    }
    const float scale = rsqrtf(block_sum(squares, values) / N + eps);

    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float normal = __bfloat162float(sum[start + column]) * scale;
        y[start + column] = __float2bfloat16(normal * __bfloat162float(gamma[column]));
    }
}
