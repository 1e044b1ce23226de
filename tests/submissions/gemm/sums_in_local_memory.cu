// Slow: a loop over the sums of a thread is not unrolled. Registers have no addresses, so the sums lie in local memory.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["THREADS * THREADS"]
// ///

constexpr int TILE = 128, DEPTH = 8, OUTPUTS = 8, THREADS = TILE / OUTPUTS, FLOATS = DEPTH * OUTPUTS / THREADS;

extern "C" __global__ void __launch_bounds__(THREADS * THREADS, 2)
gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    __shared__ float a_tile[TILE][DEPTH], b_tile[DEPTH][TILE];

    const int across = (N + TILE - 1) / TILE;
    const int top = blockIdx.x / across * TILE, left = blockIdx.x % across * TILE;
    const int y = threadIdx.x / THREADS, x = threadIdx.x % THREADS;

    float sum[OUTPUTS * OUTPUTS] = {};
    for (int k_start = 0; k_start < K; k_start += DEPTH) {
        for (int load = 0; load < FLOATS; ++load) {
            const int at = threadIdx.x + load * THREADS * THREADS;
            const int row = at / DEPTH, k = at % DEPTH, k_of_b = at / TILE, column = at % TILE;
            const bool a_inside = top + row < M && k_start + k < K;
            const bool b_inside = k_start + k_of_b < K && left + column < N;
            a_tile[row][k] = a_inside ? A[size_t(top + row) * K + k_start + k] : 0.0f;
            b_tile[k_of_b][column] = b_inside ? B[size_t(k_start + k_of_b) * N + left + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float a[OUTPUTS], b[OUTPUTS];
#pragma unroll
            for (int i = 0; i < OUTPUTS; ++i) {
                a[i] = a_tile[y + i * THREADS][k];
                b[i] = b_tile[k][x + i * THREADS];
            }
#pragma unroll
            for (int i = 0; i < OUTPUTS; ++i) {
#pragma unroll 1
                for (int j = 0; j < OUTPUTS; ++j) {
                    sum[i * OUTPUTS + j] += a[i] * b[j];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < OUTPUTS; ++i) {
#pragma unroll
        for (int j = 0; j < OUTPUTS; ++j) {
            const int row = top + y + i * THREADS, column = left + x + j * THREADS;
            if (row < M && column < N) {
                C[size_t(row) * N + column] = sum[i * OUTPUTS + j];
            }
        }
    }
}
