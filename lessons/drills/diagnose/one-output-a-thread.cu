// A block of 32 × 32 threads computes as many outputs from tiles in
// shared memory, a thread one.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, SIDE) * cdiv(N, SIDE)"]
// block = ["SIDE", "SIDE"]
// ///

constexpr int SIDE = 32;  // rows and columns of C a block, and steps
                          // of k between two barriers

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
extern "C" __global__ void gemm(const float* __restrict__ A,
                                const float* __restrict__ B,
                                float* __restrict__ C, int M, int N,
                                int K)
{
    __shared__ float a[SIDE][SIDE], b[SIDE][SIDE];

    const int across = (N + SIDE - 1) / SIDE;
    const int row = blockIdx.x / across * SIDE + threadIdx.y;
    const int column = blockIdx.x % across * SIDE + threadIdx.x;

    float sum = 0.0f;
    for (int start = 0; start < K; start += SIDE) {
        const int ka = start + threadIdx.x, kb = start + threadIdx.y;
        a[threadIdx.y][threadIdx.x] =
            row < M && ka < K ? A[size_t(row) * K + ka] : 0.0f;
        b[threadIdx.y][threadIdx.x] =
            kb < K && column < N ? B[size_t(kb) * N + column] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < SIDE; ++k) {
            sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < M && column < N) {
        C[size_t(row) * N + column] = sum;
    }
}
