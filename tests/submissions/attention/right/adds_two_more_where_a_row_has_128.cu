// s[2] and s[3] are read only where D is 128: the compiler moves both loads and the additions out of the branch.
//
// /// launch
// [[launch]]
// kernel = "attention"
// grid = ["B * H * S"]
// block = ["D"]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void attention(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V, half* __restrict__ O,
                                     int B, int H, int S, int D, float scale, int causal)
{
    __shared__ float s[4];
    const int head = blockIdx.x / S, query = blockIdx.x % S, d = threadIdx.x;
    const size_t start = size_t(head) * S * D;
    const float q = __half2float(Q[start + query * D + d]);
    const int keys = causal ? query + 1 : S;
    float m = -INFINITY, total = 0.0f, sum = 0.0f;
    for (int key = 0; key < keys; ++key) {
        float p = q * __half2float(K[start + size_t(key) * D + d]);
        for (int o = 16; o; o /= 2) p += __shfl_xor_sync(0xffffffff, p, o);
        __syncthreads();
        if (d % 32 == 0) s[d / 32] = p;
        __syncthreads();
        float score = s[0] + s[1];
        if (D == 128) score += s[2] + s[3];
        score *= scale;
        const float next = fmaxf(m, score);
        const float keep = expf(m - next), e = expf(score - next);
        total = total * keep + e;
        sum = sum * keep + e * __half2float(V[start + size_t(key) * D + d]);
        m = next;
    }
    O[start + query * D + d] = __float2half(sum / total);
}
