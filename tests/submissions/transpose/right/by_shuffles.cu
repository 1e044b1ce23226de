// A warp turns a square of 32 × 32 in its registers, in five rounds of exchanges: no shared
// memory.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int lane = threadIdx.x, across = (N + 31) / 32;
    const int top = blockIdx.x / across * 32, left = blockIdx.x % across * 32;
    float v[32];
#pragma unroll
    for (int i = 0; i < 32; ++i)
        v[i] = top + i < M && left + lane < N ? in[size_t(top + i) * N + left + lane] : 0.0f;
#pragma unroll
    for (int bit = 1; bit < 32; bit *= 2) {
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            if (i & bit) continue;  // the pair of registers i and i + bit
            const bool upper = lane & bit;
            const float given = upper ? v[i] : v[i + bit];
            const float taken = __shfl_xor_sync(0xffffffff, given, bit);
            if (upper) v[i] = taken;
            else v[i + bit] = taken;
        }
    }
#pragma unroll
    for (int i = 0; i < 32; ++i)
        if (left + i < N && top + lane < M) out[size_t(left + i) * M + top + lane] = v[i];
}
