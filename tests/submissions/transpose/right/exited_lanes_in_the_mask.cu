// Lanes beyond the edge have exited, and the mask of the shuffles names them all the same: it has
// to name all that take part, and those that have exited are not waited for. No value of theirs is
// used.
//
// deserves: 00_naive
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
    const int width = min(32, N - left);
    if (lane >= width) return;
    for (int i = 0; i < min(32, M - top); ++i) {
        const float value = in[size_t(top + i) * N + left + lane];
        for (int j = 0; j < width; ++j) {
            const float given = __shfl_sync(~0u, value, j);
            if (lane == i % width) out[size_t(left + j) * M + top + i] = given;
        }
    }
}
