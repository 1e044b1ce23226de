// One launch: the first blocks take a row each, the others 32 columns each.
//
// deserves: 01_block_a_row
//
// /// launch
// [[launch]]
// kernel = "both"
// grid = ["M + cdiv(N, 32)"]
// block = [32, 4]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void both(const half* x, const half* dy, const half* gamma, const float* mean, const float* rstd,
                                half* dx, float* dgamma, float* dbeta, int M, int N)
{
    __shared__ float2 parts[4][32];
    const int lane = threadIdx.x, warp = threadIdx.y;
    if (blockIdx.x < unsigned(M)) {
        const size_t row = blockIdx.x;
        const float m = mean[row], r = rstd[row];
        float2 sums = {0.0f, 0.0f};
        for (int i = warp * 32 + lane; i < N; i += 128) {
            const float n = (__half2float(x[row * N + i]) - m) * r, g = __half2float(dy[row * N + i]) * __half2float(gamma[i]);
            sums.x += g;
            sums.y += g * n;
        }
        for (int d = 16; d; d /= 2) {
            sums.x += __shfl_xor_sync(~0u, sums.x, d);
            sums.y += __shfl_xor_sync(~0u, sums.y, d);
        }
        if (lane == 0) parts[0][warp] = sums;
        __syncthreads();
        const float a = ((parts[0][0].x + parts[0][1].x) + (parts[0][2].x + parts[0][3].x)) / N;
        const float b = ((parts[0][0].y + parts[0][1].y) + (parts[0][2].y + parts[0][3].y)) / N;
        for (int i = warp * 32 + lane; i < N; i += 128) {
            const float n = (__half2float(x[row * N + i]) - m) * r, g = __half2float(dy[row * N + i]) * __half2float(gamma[i]);
            dx[row * N + i] = __float2half((g - a - n * b) * r);
        }
    } else {
        const int column = (blockIdx.x - M) * 32 + lane;
        float2 sums = {0.0f, 0.0f};
        if (column < N)
            for (int row = warp; row < M; row += 4) {
                const size_t place = size_t(row) * N + column;
                const float d = __half2float(dy[place]);
                sums.x += d * ((__half2float(x[place]) - mean[row]) * rstd[row]);
                sums.y += d;
            }
        parts[warp][lane] = sums;
        __syncthreads();
        if (warp == 3 && column < N) {
            dgamma[column] = (parts[0][lane].x + parts[1][lane].x) + (parts[2][lane].x + parts[3][lane].x);
            dbeta[column] = (parts[0][lane].y + parts[1][lane].y) + (parts[2][lane].y + parts[3][lane].y);
        }
    }
}
