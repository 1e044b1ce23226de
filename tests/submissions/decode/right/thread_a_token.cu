// A thread has a token of 128 and reads its key in 16 bytes at a time; their weights lie in shared memory, where each thread, with a column of V, reads them all.
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

    __shared__ float weights[THREADS];
    __shared__ float largest;
    float maximum = -INFINITY;
    float total = 0.0f;
    float sum = 0.0f;
    for (int first = 0; first < length; first += THREADS) {
        const int token = first + int(threadIdx.x);
        float score = -INFINITY;
        if (token < length) {
            const uint4* const k = reinterpret_cast<const uint4*>(K + row_of(token));
            const uint4* const of_query = reinterpret_cast<const uint4*>(q);
            score = 0.0f;
            for (int i = 0; i < D / 8; ++i) {
                const uint4 a = k[i];
                const uint4 b = of_query[i];
                const half2* const x = reinterpret_cast<const half2*>(&a);
                const half2* const y = reinterpret_cast<const half2*>(&b);
                for (int j = 0; j < 4; ++j) {
                    const float2 u = __half22float2(x[j]);
                    const float2 v = __half22float2(y[j]);
                    score = fmaf(u.x, v.x, fmaf(u.y, v.y, score));
                }
            }
            score *= scale;
        }
        weights[threadIdx.x] = score;
        __syncthreads();
        if (threadIdx.x < 32) {
            float own = maximum;
            for (int i = threadIdx.x; i < THREADS; i += 32) {
                own = fmaxf(own, weights[i]);
            }
            for (int distance = 16; distance > 0; distance /= 2) {
                own = fmaxf(own, __shfl_xor_sync(0xffffffff, own, distance));
            }
            if (threadIdx.x == 0) {
                largest = own;
            }
        }
        __syncthreads();
        const float correction = expf(maximum - largest);
        maximum = largest;
        weights[threadIdx.x] = expf(score - maximum);
        __syncthreads();
        total *= correction;
        sum *= correction;
        for (int i = 0; i < min(THREADS, length - first); ++i) {
            total += weights[i];
            sum += weights[i] * __half2float(V[row_of(first + i) + threadIdx.x]);
        }
        __syncthreads();
    }
    O[size_t(blockIdx.x) * D + threadIdx.x] = __float2half(length > 0 ? sum / total : 0.0f);
}
