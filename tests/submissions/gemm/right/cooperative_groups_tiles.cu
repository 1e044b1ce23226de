// Groups of eight threads compute one element each, every thread an eighth of the dot product, and
// add up with the group's shuffles. The mask of a group is a quarter of a warp.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M * N, 32)"]
// block = [256]
// ///

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const auto group = cg::tiled_partition<8>(cg::this_thread_block());
    const size_t element = size_t(blockIdx.x) * 32 + group.meta_group_rank();
    if (element >= size_t(M) * N) return;  // whole groups
    const size_t row = element / N, column = element % N;
    float sum = 0.0f;
    for (int k = group.thread_rank(); k < K; k += 8) sum += A[row * K + k] * B[size_t(k) * N + column];
    for (int distance = 4; distance > 0; distance /= 2) sum += group.shfl_xor(sum, distance);
    if (group.thread_rank() == 0) C[element] = sum;
}
