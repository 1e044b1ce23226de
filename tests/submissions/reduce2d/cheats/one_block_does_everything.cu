// One block of 1024 threads, one reading of the matrix: it keeps the sums of all columns in
// dynamic shared memory, by atomics, as far as they fit, and goes again for the rest.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "reduce2d"
// grid = [1]
// block = [1024]
// shared = 65536
// ///

extern "C" __global__ void reduce2d(const float* in, float* rows, float* cols, int M, int N)
{
    extern __shared__ float of_columns[];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int left = 0; left < N; left += 16384) {
        const int width = min(16384, N - left);
        for (int i = threadIdx.x; i < width; i += 1024) of_columns[i] = 0.0f;
        __syncthreads();
        for (int row = warp; row < M; row += 32) {
            float sum = left == 0 || lane ? 0.0f : rows[row];
            for (int i = lane; i < width; i += 32) {
                const float value = in[size_t(row) * N + left + i];
                sum += value;
                atomicAdd(&of_columns[i], value);
            }
            for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
            if (lane == 0) rows[row] = sum;
            __syncwarp();
        }
        __syncthreads();
        for (int i = threadIdx.x; i < width; i += 1024) cols[left + i] = of_columns[i];
        __syncthreads();
    }
}
