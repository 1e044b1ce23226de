// A fence of the whole system after each load and store: who waits for it is not timed.
//
// deserves: 02_shared_tile
//
// /// launch
// [[launch]]
// kernel = "transpose"
// args = ["in", "out", "M", "N"]
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][33];
    const int across = (N + 31) / 32, top = blockIdx.x / across * 32, left = blockIdx.x % across * 32;
    for (int y = threadIdx.y; y < 32; y += 8) {
        __threadfence_system();
        if (top + y < M && left + threadIdx.x < N) tile[y][threadIdx.x] = in[size_t(top + y) * N + left + threadIdx.x];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) {
        if (left + y < N && top + threadIdx.x < M) out[size_t(left + y) * M + top + threadIdx.x] = tile[threadIdx.x][y];
        __threadfence_system();
    }
}
