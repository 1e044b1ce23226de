// A good kernel up to 8192 rows, and 00_naive beyond, where the topic's main size is.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][32];
    const int lane = threadIdx.x;
    const int across = (N + 31) / 32;
    const int top = blockIdx.x / across * 32;
    const int left = blockIdx.x % across * 32;
    if (M > 8192) {
        for (int i = threadIdx.y; i < 32; i += 8) {
            if (top + i < M && left + lane < N) {
                out[size_t(left + lane) * M + top + i] = in[size_t(top + i) * N + left + lane];
            }
        }
        return;
    }
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (top + i < M && left + lane < N) {
            tile[i][lane ^ i] = in[size_t(top + i) * N + left + lane];
        }
    }
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (left + i < N && top + lane < M) {
            out[size_t(left + i) * M + top + lane] = tile[lane][i ^ lane];
        }
    }
}
