// Lanes beyond the edge have returned when the others shuffle from them.
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
    if (left + lane >= N) return;
    for (int i = 0; i < 32 && top + i < M; ++i) {
        const float value = in[size_t(top + i) * N + left + lane];
        for (int j = 0; j < 32 && left + j < N; ++j) {
            const float given = __shfl_sync(~0u, value, j);
            if (lane == (i & 31) || left + 32 > N) out[size_t(left + j) * M + top + i] = given;
        }
    }
}
