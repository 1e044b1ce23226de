// A warp copies the next page to shared memory by cp.async while it computes with the last one. Two lanes have a token each for scores, and every lane four columns of V.
//
// /// launch
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "O", "H", "KV", "T", "scale"]
// grid = ["B * H"]
// block = ["THREADS"]
// ///

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int D = 128;
constexpr int PAGE = 16;
constexpr int THREADS = 32;
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

    __shared__ alignas(16) half tiles[2][2][PAGE][D];  // by stage: keys, and rows of V
    const int lane = threadIdx.x;
    const auto copy = [&](int page) {
        const size_t from = row_of(page * PAGE);
        for (int i = lane; i < PAGE * D / 8; i += THREADS) {
            __pipeline_memcpy_async(&tiles[page % 2][0][0][0] + 8 * i, K + from + 8 * i, 16);
            __pipeline_memcpy_async(&tiles[page % 2][1][0][0] + 8 * i, V + from + 8 * i, 16);
        }
    };
    const int count = (length + PAGE - 1) / PAGE;
    if (count > 0) {
        copy(0);
    }
    __pipeline_commit();
    float maximum = -INFINITY;
    float total = 0.0f;
    float sums[4] = {};
    for (int page = 0; page < count; ++page) {
        if (page + 1 < count) {
            copy(page + 1);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncwarp();
        const half(&keys)[PAGE][D] = tiles[page % 2][0];
        const half(&values)[PAGE][D] = tiles[page % 2][1];
        float score = 0.0f;
        for (int d = lane / 16; d < D; d += 2) {
            score += __half2float(q[d]) * __half2float(keys[lane % 16][d]);
        }
        score += __shfl_xor_sync(0xffffffff, score, 16);
        score = page * PAGE + lane % 16 < length ? scale * score : -INFINITY;
        float larger = fmaxf(maximum, score);
        for (int distance = 8; distance > 0; distance /= 2) {
            larger = fmaxf(larger, __shfl_xor_sync(0xffffffff, larger, distance));
        }
        const float correction = expf(maximum - larger);
        const float own = expf(score - larger);
        maximum = larger;
        total *= correction;
        for (float& sum : sums) {
            sum *= correction;
        }
        for (int i = 0; i < PAGE; ++i) {
            const float weight = __shfl_sync(0xffffffff, own, i);
            total += weight;
            for (int j = 0; j < 4 && page * PAGE + i < length; ++j) {
                sums[j] += weight * __half2float(values[i][4 * lane + j]);
            }
        }
        __syncwarp();  // all have read this stage
    }
    for (int j = 0; j < 4; ++j) {
        O[size_t(blockIdx.x) * D + 4 * lane + j] = __float2half(length > 0 ? sums[j] / total : 0.0f);
    }
}
