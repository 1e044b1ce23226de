// Scores are computed twice: for their maximum, and again for their exponentials. A thread multiplies one of 128 numbers, and all add up a score in shared memory.
//
// /// launch
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "O", "H", "KV", "T", "scale"]
// grid = ["B * H"]
// block = ["THREADS"]
// ///

#include <cuda_fp16.h>

constexpr int D = 128;
constexpr int PAGE = 16;
constexpr int THREADS = D;
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

    __shared__ float of_warps[2][4];
    float maximum = -INFINITY;
    float total = 0.0f;
    float sum = 0.0f;
    for (int pass = 0; pass < 2; ++pass) {
        for (int token = 0; token < length; ++token) {
            float product = __half2float(q[threadIdx.x]) * __half2float(K[row_of(token) + threadIdx.x]);
            for (int distance = 16; distance > 0; distance /= 2) {
                product += __shfl_xor_sync(0xffffffff, product, distance);
            }
            float* const parts = of_warps[token % 2];
            if (threadIdx.x % 32 == 0) {
                parts[threadIdx.x / 32] = product;
            }
            __syncthreads();
            const float score = scale * (parts[0] + parts[1] + parts[2] + parts[3]);
            if (pass == 0) {
                maximum = fmaxf(maximum, score);
            } else {
                const float weight = expf(score - maximum);
                total += weight;
                sum += weight * __half2float(V[row_of(token) + threadIdx.x]);
            }
        }
        __syncthreads();
    }
    O[size_t(blockIdx.x) * D + threadIdx.x] = __float2half(length > 0 ? sum / total : 0.0f);
}
