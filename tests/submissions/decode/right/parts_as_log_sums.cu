// A part of a sequence leaves its output, divided by its sum l, and m + log(l), which FlashAttention calls LSE. Parts
// are merged by it alone. A block of four warps has a KV head, up to eight of its queries and a part; half a warp a row.
//
// /// launch
// [[launch]]
// kernel = "parts"
// args = ["Q", "K", "V", "table", "lengths", "lse", "po", "B", "H", "KV", "T", "scale"]
// grid = ["B * KV * cdiv(GROUP, HEADS)", "PARTS"]
// block = [128]
//
// [[launch]]
// kernel = "merge"
// args = ["lse", "po", "O", "B", "H"]
// grid = ["B * H"]
// block = ["D"]
//
// [[scratch]]
// name = "lse"
// dtype = "float32"
// shape = ["PARTS", "B", "H"]
//
// [[scratch]]
// name = "po"
// dtype = "float32"
// shape = ["PARTS", "B", "H", "D"]
// ///
#include <cuda_fp16.h>

constexpr int D = 128;
constexpr int PAGE = 16;
constexpr int HEADS = 8;
constexpr int PARTS = 4;
constexpr int TEAMS = 8;  // half warps

__device__ void unpack(float (&out)[8], uint4 raw)
{
    const half2* h = reinterpret_cast<const half2*>(&raw);
    for (int i = 0; i < 4; ++i) {
        const float2 f = __half22float2(h[i]);
        out[2 * i] = f.x;
        out[2 * i + 1] = f.y;
    }
}

extern "C" __global__ void __launch_bounds__(128)
parts(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V,
      const int* __restrict__ table, const int* __restrict__ lengths, float* lse, float* po,
      int B, int H, int KV, int T, float scale)
{
    __shared__ float sm[TEAMS][HEADS];
    __shared__ float sl[TEAMS][HEADS];
    __shared__ float so[TEAMS][HEADS][D];

    const int group = H / KV;
    const int chunks = (group + HEADS - 1) / HEADS;
    const int chunk = blockIdx.x % chunks;
    const int kv = blockIdx.x / chunks % KV;
    const int b = blockIdx.x / chunks / KV;
    const int first = kv * group + chunk * HEADS;
    const int heads = min(HEADS, group - chunk * HEADS);
    const int team = threadIdx.x / 16;
    const int warp = threadIdx.x / 32;
    const int half_warp = team % 2;
    const int lane = threadIdx.x % 16;
    const int length = lengths[b];
    const int* const row = table + size_t(b) * ((T + PAGE - 1) / PAGE);
    const int pages = (length + PAGE - 1) / PAGE;
    const int per_part = (pages + PARTS - 1) / PARTS;
    const int begin = blockIdx.y * per_part;
    const int end = min(pages, begin + per_part);

    float q[HEADS][8];
    float o[HEADS][8] = {};
    float m[HEADS];
    float l[HEADS] = {};
#pragma unroll
    for (int h = 0; h < HEADS; ++h) {
        m[h] = -INFINITY;
        uint4 raw = {};
        if (h < heads) {
            raw = *reinterpret_cast<const uint4*>(Q + (size_t(b) * H + first + h) * D + 8 * lane);
        }
        unpack(q[h], raw);
    }
    for (int page = begin + warp; page < end; page += 4) {
        const size_t base = (size_t(row[page]) * KV + kv) * PAGE * D + 8 * lane;
        for (int step = 0; step < PAGE / 2; ++step) {
            const int slot = 2 * step + half_warp;
            const bool valid = page * PAGE + slot < length;
            uint4 rk = {};
            uint4 rv = {};
            if (valid) {
                rk = *reinterpret_cast<const uint4*>(K + base + slot * D);
                rv = *reinterpret_cast<const uint4*>(V + base + slot * D);
            }
            float k[8], v[8];
            unpack(k, rk);
            unpack(v, rv);
#pragma unroll
            for (int h = 0; h < HEADS; ++h) {
                float s = 0.0f;
                for (int i = 0; i < 8; ++i) {
                    s += q[h][i] * k[i];
                }
                for (int d = 8; d > 0; d /= 2) {
                    s += __shfl_xor_sync(0xffffffff, s, d);
                }
                if (valid) {
                    s *= scale;
                    const float now = fmaxf(m[h], s);
                    const float correction = expf(m[h] - now);
                    const float weight = expf(s - now);
                    m[h] = now;
                    l[h] = l[h] * correction + weight;
                    for (int i = 0; i < 8; ++i) {
                        o[h][i] = o[h][i] * correction + weight * v[i];
                    }
                }
            }
        }
    }
#pragma unroll
    for (int h = 0; h < HEADS; ++h) {
        if (lane == 0) {
            sm[team][h] = m[h];
            sl[team][h] = l[h];
        }
        for (int i = 0; i < 8; ++i) {
            so[team][h][8 * lane + i] = o[h][i];
        }
    }
    __syncthreads();
    const int d = threadIdx.x;
    for (int h = 0; h < heads; ++h) {
        float most = -INFINITY;
        for (int t = 0; t < TEAMS; ++t) {
            most = fmaxf(most, sm[t][h]);
        }
        float total = 0.0f;
        float sum = 0.0f;
        for (int t = 0; t < TEAMS; ++t) {
            const float weight = sm[t][h] == -INFINITY ? 0.0f : expf(sm[t][h] - most);
            total += weight * sl[t][h];
            sum += weight * so[t][h][d];
        }
        const size_t at = (size_t(blockIdx.y) * B + b) * H + first + h;
        po[at * D + d] = total == 0.0f ? 0.0f : sum / total;
        if (d == 0) {
            lse[at] = total == 0.0f ? -INFINITY : most + logf(total);
        }
    }
}

extern "C" __global__ void merge(const float* lse, const float* po, half* O, int B, int H)
{
    const size_t query = blockIdx.x;
    const int d = threadIdx.x;
    float most = -INFINITY;
    for (int p = 0; p < PARTS; ++p) {
        most = fmaxf(most, lse[size_t(p) * B * H + query]);
    }
    float total = 0.0f;
    float sum = 0.0f;
    for (int p = 0; p < PARTS; ++p) {
        const size_t at = size_t(p) * B * H + query;
        const float weight = lse[at] == -INFINITY ? 0.0f : expf(lse[at] - most);
        total += weight;
        sum += weight * po[at * D + d];
    }
    O[query * D + d] = __float2half(total == 0.0f ? 0.0f : sum / total);
}
