// Parts of 512 weights go through global memory, and a second launch adds them up.
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["cdiv(K, 512)", "N"]
//
// [[launch]]
// kernel = "parts_of"
// args = ["W", "scales", "x", "parts", "N", "K"]
// grid = ["cdiv(N, 8)", "cdiv(K, 512)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "add"
// args = ["parts", "y", "N", "cdiv(K, 512)"]
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void parts_of(const unsigned* W, const half* scales, const half* x, float* parts, int N, int K)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= N) {
        return;
    }
    float sum = 0.0f;
    const int end = min(K, int(blockIdx.y + 1) * 512);
    for (int k = blockIdx.y * 512 + threadIdx.x; k < end; k += 32) {
        const unsigned word = W[size_t(row) * (K / 8) + k / 8];
        const float weight = float(word >> 4 * (k % 8) & 15) - 8.0f;
        sum += __half2float(scales[size_t(row) * (K / 128) + k / 128]) * weight * __half2float(x[k]);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x == 0) {
        parts[size_t(blockIdx.y) * N + row] = sum;
    }
}

extern "C" __global__ void add(const float* parts, half* y, int N, int count)
{
    const int row = blockIdx.x * 256 + threadIdx.x;
    if (row >= N) {
        return;
    }
    float sum = 0.0f;
    for (int part = 0; part < count; ++part) {
        sum += parts[size_t(part) * N + row];
    }
    y[row] = __float2half(sum);
}
