// Tiles of 16 threads take a token each; cooperative groups add up its score and find the largest.
//
// /// launch
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "O", "H", "KV", "T", "scale"]
// grid = ["B * H"]
// block = ["THREADS"]
// ///

#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

constexpr int D = 128;
constexpr int PAGE = 16;
constexpr int THREADS = 16;
extern "C" __global__ void decode(const half* Q, const half* K, const half* V, const int* table, const int* lengths,
                                  half* O, int H, int KV, int T, float scale)
{
    const int sequence = blockIdx.x / H;
    const int shared_head = blockIdx.x % H / (H / KV);
    const int length = lengths[sequence];
    const int* const pages = table + size_t(sequence) * ((T + PAGE - 1) / PAGE);
    const half* const q = Q + size_t(blockIdx.x) * D;
    const auto row_of = [&](int token) {
        return ((size_t(pages[token / PAGE]) * KV + shared_head) * PAGE + token % PAGE) * D;
    };

    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int lane = tile.thread_rank();
    float maximum = -INFINITY;
    float total = 0.0f;
    float sums[D / 16] = {};
    for (int token = 0; token < length; ++token) {
        const size_t row = row_of(token);
        float score = 0.0f;
        for (int i = 0; i < D / 16; ++i) {
            score += __half2float(q[16 * i + lane]) * __half2float(K[row + 16 * i + lane]);
        }
        score = scale * cg::reduce(tile, score, cg::plus<float>());
        const float larger = fmaxf(maximum, score);
        const float correction = expf(maximum - larger);
        const float weight = expf(score - larger);
        maximum = larger;
        total = total * correction + weight;
        for (int i = 0; i < D / 16; ++i) {
            sums[i] = sums[i] * correction + weight * __half2float(V[row + 16 * i + lane]);
        }
    }
    for (int i = 0; i < D / 16; ++i) {
        O[size_t(blockIdx.x) * D + 16 * i + lane] = __float2half(length > 0 ? sums[i] / total : 0.0f);
    }
}
