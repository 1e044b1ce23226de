// A grid of one warp turns one tile after the other, without conflicts and without padding: its counters are those of
// 04_swizzled_tile. It is a thousand times slower.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = [1]
// block = [32]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][32];
    const int lane = threadIdx.x;
    for (int top = 0; top < M; top += 32) {
        for (int left = 0; left < N; left += 32) {
            for (int i = 0; i < 32; ++i) {
                if (top + i < M && left + lane < N) {
                    tile[i][lane ^ i] = in[size_t(top + i) * N + left + lane];
                }
            }
            __syncwarp();
            for (int i = 0; i < 32; ++i) {
                if (left + i < N && top + lane < M) {
                    out[size_t(left + i) * M + top + lane] = tile[lane][i ^ lane];
                }
            }
            __syncwarp();
        }
    }
}
