// /// launch
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "O", "H", "KV", "T", "scale"]
// grid = ["B * H"]
// block = [32, "WARPS"]
// ///
#include <cuda_fp16.h>

constexpr int D = 128;
constexpr int PAGE = 16;
constexpr int OWN = D / 32;
constexpr int WARPS = 4;

// Every lane gets the sum of the warp's 32 values.
__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, distance);
    }
    return value;
}

// What a part weighs whose largest score is `own`, beside one of `largest`.
__device__ float weight_of(float own, float largest)
{
    return own == -INFINITY ? 0.0f : expf(own - largest);
}

// A block takes a query, and its warps take the pages in turn.
extern "C" __global__ void decode(const half* Q, const half* K, const half* V, const int* table,
                                  const int* lengths, half* O, int H, int KV, int T, float scale)
{
    __shared__ float maxima[WARPS];
    __shared__ float totals[WARPS];
    __shared__ float parts[WARPS][D];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int sequence = blockIdx.x / H;
    const int shared_head = blockIdx.x % H / (H / KV);
    const int length = lengths[sequence];
    const int* const pages = table + size_t(sequence) * ((T + PAGE - 1) / PAGE);
    const half* const q = Q + size_t(blockIdx.x) * D;

    float maximum = -INFINITY;
    float total = 0.0f;
    float sums[OWN] = {};
    for (int first = warp * PAGE; first < length; first += WARPS * PAGE) {
        const size_t start = (size_t(pages[first / PAGE]) * KV + shared_head) * PAGE * D;
        for (int token = 0; token < min(PAGE, length - first); ++token) {
            const half* const k = K + start + token * D;
            const half* const v = V + start + token * D;
            float score = 0.0f;
            for (int i = 0; i < OWN; ++i) {
                score += __half2float(q[i * 32 + lane]) * __half2float(k[i * 32 + lane]);
            }
            score = scale * warp_sum(score);
            const float larger = fmaxf(maximum, score);
            const float correction = expf(maximum - larger);
            const float weight = expf(score - larger);
            maximum = larger;
            total = total * correction + weight;
            for (int i = 0; i < OWN; ++i) {
                sums[i] = sums[i] * correction + weight * __half2float(v[i * 32 + lane]);
            }
        }
    }
    if (lane == 0) {
        maxima[warp] = maximum;
        totals[warp] = total;
    }
    for (int i = 0; i < OWN; ++i) {
        parts[warp][i * 32 + lane] = sums[i];
    }
    __syncthreads();

    float largest = -INFINITY;
    for (int other = 0; other < WARPS; ++other) {
        largest = fmaxf(largest, maxima[other]);
    }
    const int column = warp * 32 + lane;
    float divisor = 0.0f;
    float sum = 0.0f;
    for (int other = 0; other < WARPS; ++other) {
        const float weight = weight_of(maxima[other], largest);
        divisor += totals[other];  //!
        sum += weight * parts[other][column];
    }
    O[size_t(blockIdx.x) * D + column] = __float2half(length > 0 ? sum / divisor : 0.0f);
}
