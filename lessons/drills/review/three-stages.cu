// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, T)", "cdiv(M, T)"]
// block = ["T", "T"]
// ///
#include <cuda_pipeline.h>

constexpr int T = 16;
constexpr int STAGES = 3;

// Starts to copy an element where it is there, and sets it to zero elsewhere.
__device__ void bring(float& to, const float* from, bool there)
{
    if (there) {
        __pipeline_memcpy_async(&to, from, sizeof(float));  //~
    } else {
        to = 0.0f;
    }
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[STAGES][T][T], b[STAGES][T][T];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * T + y;
    const int column = blockIdx.x * T + x;

    auto start = [&](int tile) {
        const int ka = tile * T + x;
        const int kb = tile * T + y;
        bring(a[tile % STAGES][y][x], A + size_t(row) * K + ka, row < M && ka < K);
        bring(b[tile % STAGES][y][x], B + size_t(kb) * N + column, kb < K && column < N);
        __pipeline_commit();
    };

    float sum = 0.0f;
    for (int tile = 0; tile < STAGES - 1; ++tile) {
        start(tile);
    }
    for (int tile = 0; tile * T < K; ++tile) {
        start(tile + STAGES - 1);  // beyond K: zeros
        __pipeline_wait_prior(STAGES);  //!
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            sum += a[tile % STAGES][y][k] * b[tile % STAGES][k][x];  //~
        }
        __syncthreads();
    }
    if (row < M && column < N) {
        C[size_t(row) * N + column] = sum;
    }
}
