// Blocks of 1024 threads, of which one warp does the work of all: the counters of 04_swizzled_tile, and 64 times fewer
// warps that wait for memory at a time.
//
// deserves: 01_coalesced_writes
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [1024]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][32];
    if (threadIdx.x >= 32) {
        return;
    }
    const int lane = threadIdx.x;
    const int across = (N + 31) / 32;
    const int top = blockIdx.x / across * 32;
    const int left = blockIdx.x % across * 32;
    #pragma unroll 1
    for (int i = 0; i < 32; ++i) {
        if (top + i < M && left + lane < N) {
            tile[i][lane ^ i] = in[size_t(top + i) * N + left + lane];
        }
    }
    __syncwarp();
    #pragma unroll 1
    for (int i = 0; i < 32; ++i) {
        if (left + i < N && top + lane < M) {
            out[size_t(left + i) * M + top + lane] = tile[lane][i ^ lane];
        }
    }
}
