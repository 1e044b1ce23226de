// RMS norm with a residual: sum = x + residual, and y[i] is row i of that sum, divided by the root of its
// mean square, times gamma. Your kernels go here; replace this comment by their idea in a sentence.
//
// The block below says how the kernel is launched. Sizes (M, N) and the file's constexprs may be used
// in its expressions, and cdiv(a, b) is a / b rounded up.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_bf16.h>

constexpr int BLOCK = 128;  // threads of a block, and rows that it computes

// All but gamma are M × N, row-major: x[row][column] is x[row * N + column]. gamma has N elements, one
// for each column. All of them are BF16: __bfloat162float(b) makes a float of one, and
// __float2bfloat16(f) rounds a float to one. One thread a row.
extern "C" __global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual,
                                   const __nv_bfloat16* gamma, __nv_bfloat16* y, __nv_bfloat16* sum,
                                   int M, int N, float eps)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;

    // The last block reaches beyond the last row. Its threads out there must not touch memory.
    if (row >= M) {
        return;
    }

    // size_t has 64 bits: a large matrix has more elements than an int can count.
    const size_t start = size_t(row) * N;

    for (int column = 0; column < N; ++column) {
        const float s = __bfloat162float(x[start + column]) + __bfloat162float(residual[start + column]);
        sum[start + column] = __float2bfloat16(s);
    }

    // TODO: the mean square is the mean of s · s over the row. Add it up in a float.
    const float mean_square = 1.0f;

    const float scale = rsqrtf(mean_square + eps);  // 1 / sqrt(mean_square + eps)
    for (int column = 0; column < N; ++column) {
        const float normal = __bfloat162float(sum[start + column]) * scale;
        y[start + column] = __float2bfloat16(normal * __bfloat162float(gamma[column]));
    }
}
