// NVIDIA's cg::memcpy_async fetches the rows of the tiles; a row of B is as long as fits.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = ["T", "T"]
// ///

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

constexpr int T = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[T][T], b[T][T];
    const auto block = cg::this_thread_block();
    const int x = threadIdx.x, y = threadIdx.y, across = (N + T - 1) / T;
    const int top = blockIdx.x / across * T, left = blockIdx.x % across * T;
    const int rows = min(T, M - top), columns = min(T, N - left);
    float sum = 0.0f;
    for (int first = 0; first < K; first += T) {
        const int depth = min(T, K - first);
        for (int i = 0; i < rows; ++i)
            cg::memcpy_async(block, a[i], A + size_t(top + i) * K + first, sizeof(float) * depth);
        for (int k = 0; k < depth; ++k)
            cg::memcpy_async(block, b[k], B + size_t(first + k) * N + left, sizeof(float) * columns);
        cg::wait(block);
        if (y < rows && x < columns)
            for (int k = 0; k < depth; ++k) sum += a[y][k] * b[k][x];
        block.sync();
    }
    if (y < rows && x < columns) C[size_t(top + y) * N + left + x] = sum;
}
