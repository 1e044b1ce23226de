// Rows of the tile are padded by four floats, 17 KiB in all; a few blocks go through all tiles, and read the padding
// once, for nothing.
//
// deserves: 03_padded_tile
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["min(SMS * 4, max(1, M * N // 8192), cdiv(M, 64) * cdiv(N, 64))"]
// block = [64, 8]
// ///
extern "C" __global__ void __launch_bounds__(512)
transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[64 * 68];
    const int across = (N + 63) / 64;
    const long long tiles = (long long)across * ((M + 63) / 64);
    const int x = threadIdx.x, thread = threadIdx.y * 64 + x;
    if (thread < 256) {
        float seen = 0.0f;
        tile[thread / 4 * 68 + 64 + thread % 4] = seen;
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(seen)
                     : "r"(unsigned(__cvta_generic_to_shared(&tile[thread / 4 * 68 + 64 + thread % 4]))) : "memory");
    }
    for (long long t = blockIdx.x; t < tiles; t += gridDim.x) {
        const int r0 = int(t / across) * 64, c0 = int(t % across) * 64;
        float v[8];
        #pragma unroll
        for (int k = 0; k < 8; ++k) {
            const int i = threadIdx.y + 8 * k;
            v[k] = (r0 + i < M && c0 + x < N) ? in[size_t(r0 + i) * N + c0 + x] : 0.0f;
        }
        __syncthreads();
        // Bank (4 x + i + x / 8) % 32: 32 lanes have 32 banks.
        #pragma unroll
        for (int k = 0; k < 8; ++k) {
            const int i = threadIdx.y + 8 * k;
            tile[x * 68 + (i + x / 8) % 64] = v[k];
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 8; ++k) {
            const int i = threadIdx.y + 8 * k;
            if (c0 + i < N && r0 + x < M) out[size_t(c0 + i) * M + r0 + x] = tile[i * 68 + (x + i / 8) % 64];
        }
    }
}
