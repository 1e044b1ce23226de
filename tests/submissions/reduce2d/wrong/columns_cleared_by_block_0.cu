// Column sums are added by atomics, and block 0 clears them first, in the same launch.
//
// /// launch
// [[launch]]
// kernel = "reduce2d"
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void reduce2d(const float* in, float* rows, float* cols, int M, int N)
{
    if (blockIdx.x == 0)
        for (int i = threadIdx.y * 32 + threadIdx.x; i < N; i += 256) cols[i] = 0.0f;
    __syncthreads();
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) {
        const float value = in[size_t(row) * N + column];
        sum += value;
        atomicAdd(&cols[column], value);
    }
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) rows[row] = sum;
}
