// Padded tiles, their shared memory rounded up to whole kilobytes; a few blocks go through all tiles.
//
// deserves: 03_padded_tile
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["min(SMS * 4, max(1, M * N * 4 // 20000), cdiv(M, 64) * cdiv(N, 64))"]
// block = [64, 8]
// shared = "17 * 1024"
// ///
extern "C" __global__ void __launch_bounds__(512)
transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    extern __shared__ float tile[];   // [64][65]
    const int across = (N + 63) / 64;
    const long long tiles = (long long)across * ((M + 63) / 64);
    const int x = threadIdx.x;
    for (long long t = blockIdx.x; t < tiles; t += gridDim.x) {
        const int r0 = int(t / across) * 64, c0 = int(t % across) * 64;
        float v[8];
        #pragma unroll
        for (int k = 0; k < 8; ++k) {
            const int i = threadIdx.y + 8 * k;
            v[k] = (r0 + i < M && c0 + x < N) ? in[size_t(r0 + i) * N + c0 + x] : 0.0f;
        }
        #pragma unroll
        for (int k = 0; k < 8; ++k) tile[(threadIdx.y + 8 * k) * 65 + x] = v[k];
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 8; ++k) {
            const int i = threadIdx.y + 8 * k;
            if (c0 + i < N && r0 + x < M) out[size_t(c0 + i) * M + r0 + x] = tile[x * 65 + i];
        }
        __syncthreads();
    }
}
