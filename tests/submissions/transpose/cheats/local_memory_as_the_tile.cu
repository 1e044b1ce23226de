// Every lane keeps a column of the square in local memory at indices that the compiler does not
// know, and the square is turned by a shuffle for each element of each lane, 32 times too many.
//
// deserves: 03_padded_tile
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
    float own[32];
    for (int i = 0; i < 32; ++i)
        own[(i + M) % 32] = top + i < M && left + lane < N ? in[size_t(top + i) * N + left + lane] : 0.0f;
    for (int i = 0; i < 32; ++i) {
        float mine = 0.0f;
#pragma unroll 1
        for (int j = 0; j < 32; ++j) {
            const float given = __shfl_sync(~0u, own[(j + M) % 32], i);
            mine = lane == j ? given : mine;
        }
        if (left + i < N && top + lane < M) out[size_t(left + i) * M + top + lane] = mine;
    }
}
