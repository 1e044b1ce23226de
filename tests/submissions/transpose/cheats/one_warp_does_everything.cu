// One warp turns square after square by shuffles; requests, sectors and conflicts are as they
// should be.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = [1]
// block = [32]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int lane = threadIdx.x;
    for (int top = 0; top < M; top += 32)
        for (int left = 0; left < N; left += 32) {
            float v[32];
#pragma unroll
            for (int i = 0; i < 32; ++i)
                v[i] = top + i < M && left + lane < N ? in[size_t(top + i) * N + left + lane] : 0.0f;
#pragma unroll
            for (int bit = 1; bit < 32; bit *= 2)
#pragma unroll
                for (int i = 0; i < 32; ++i) {
                    if (i & bit) continue;
                    const bool upper = lane & bit;
                    const float taken = __shfl_xor_sync(~0u, upper ? v[i] : v[i + bit], bit);
                    if (upper) v[i] = taken;
                    else v[i + bit] = taken;
                }
#pragma unroll
            for (int i = 0; i < 32; ++i)
                if (left + i < N && top + lane < M) out[size_t(left + i) * M + top + lane] = v[i];
        }
}
