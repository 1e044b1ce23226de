// /// launch
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "O", "H", "KV", "T", "scale"]
// grid = ["B * H"]
// block = ["D"]
// ///
#include <cuda_fp16.h>

constexpr int D = 128;
constexpr int PAGE = 16;

// A block takes a query, and goes along its pages: first all scores of a page, then their softmax.
extern "C" __global__ void decode(const half* Q, const half* K, const half* V, const int* table,
                                  const int* lengths, half* O, int H, int KV, int T, float scale)
{
    __shared__ float scores[PAGE];
    const int column = threadIdx.x;
    const int shared_head = blockIdx.x % H / (H / KV);
    const int length = lengths[blockIdx.x / H];
    const int* const pages = table + size_t(blockIdx.x / H) * ((T + PAGE - 1) / PAGE);
    const half* const q = Q + size_t(blockIdx.x) * D;

    float maximum = -INFINITY, total = 0.0f, sum = 0.0f;
    for (int first = 0; first < length; first += PAGE) {
        const size_t start = (size_t(pages[first / PAGE]) * KV + shared_head) * PAGE * D;
        if (column < PAGE) {
            float score = 0.0f;
            for (int d = 0; d < D; ++d) {
                score += __half2float(q[d]) * __half2float(K[start + column * D + d]);
            }
            scores[column] = first + column < length ? scale * score : -INFINITY;
        }
        __syncthreads();

        float larger = maximum;
        for (int token = 0; token < PAGE; ++token) {
            larger = fmaxf(larger, scores[token]);
        }
        const float correction = expf(maximum - larger);
        maximum = larger;
        total *= correction;
        sum *= correction;
        for (int token = 0; token < PAGE; ++token) {
            const float weight = expf(scores[token] - larger);
            total += weight;
            sum += weight * __half2float(V[start + token * D + column]);  //!
        }
        __syncthreads();
    }
    O[size_t(blockIdx.x) * D + column] = __float2half(length > 0 ? sum / total : 0.0f);
}
