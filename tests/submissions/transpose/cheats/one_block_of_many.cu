// As many blocks as tiles, and the last but two turns all of them: a few sampled blocks have nothing to do.
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
    if (blockIdx.x != max(int(gridDim.x) - 3, 0)) {
        return;
    }
    const int lane = threadIdx.x;
    for (int top = 0; top < M; top += 32) {
        for (int left = 0; left < N; left += 32) {
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
            __syncthreads();
        }
    }
}
