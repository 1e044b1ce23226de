// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["cdiv(M, WARPS)"]
// block = [32, "WARPS"]
// ///
#include <cuda_bf16.h>

constexpr int WARPS = 4;

// Every lane gets the sum of the warp's 32 values.
__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, distance);
    }
    return value;
}

extern "C" __global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual,
                                   const __nv_bfloat16* gamma, __nv_bfloat16* y, __nv_bfloat16* sum,
                                   int M, int N, float eps)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= M) {
        return;
    }
    const size_t start = size_t(row) * N;

    float squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) {
        const float value = __bfloat162float(x[start + column]);
        const float added = value + __bfloat162float(residual[start + column]);
        sum[start + column] = __float2bfloat16(added);
        squares += value * value;  //!
    }
    const float scale = rsqrtf(warp_sum(squares) / N + eps);

    for (int column = threadIdx.x; column < N; column += 32) {
        const float normal = __bfloat162float(sum[start + column]) * scale;
        y[start + column] = __float2bfloat16(normal * __bfloat162float(gamma[column]));
    }
}
