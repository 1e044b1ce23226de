// A tile of 32 × 32 by a block: row sums and column sums grow by atomics in shared memory, and go
// out by atomics on outputs that the launch block zeroes.
//
// /// launch
// [[launch]]
// kernel = "reduce2d"
// grid = ["cdiv(N, 32) * cdiv(M, 32)"]
// block = [32, 32]
// zero = ["rows", "cols"]
// ///

extern "C" __global__ void reduce2d(const float* in, float* rows, float* cols, int M, int N)
{
    __shared__ float of_rows[32], of_columns[32];
    const int x = threadIdx.x, y = threadIdx.y, across = (N + 31) / 32;
    const int top = blockIdx.x / across * 32, left = blockIdx.x % across * 32;
    if (y == 0) of_rows[x] = of_columns[x] = 0.0f;
    __syncthreads();
    if (top + y < M && left + x < N) {
        const float value = in[size_t(top + y) * N + left + x];
        atomicAdd(&of_rows[y], value);
        atomicAdd(&of_columns[x], value);
    }
    __syncthreads();
    if (y == 0 && top + x < M) atomicAdd(&rows[top + x], of_rows[x]);
    if (y == 1 && left + x < N) atomicAdd(&cols[left + x], of_columns[x]);
}
