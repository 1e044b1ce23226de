// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, T)", "cdiv(M, T)"]
// block = ["T", "T"]
// ///

constexpr int T = 16;  // side of a tile
using Tile = float[T][T];

// The tiles that begin at `first` along k, with zeros beyond the edges.
__device__ void load(Tile& a, Tile& b, const float* A, const float* B, int first, int M, int N, int K)
{
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * T + y;
    const int column = blockIdx.x * T + x;
    a[y][x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
    b[y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ Tile a[2], b[2];
    const int row = blockIdx.y * T + threadIdx.y;
    const int column = blockIdx.x * T + threadIdx.x;
    const int tiles = (K + T - 1) / T;

    float sum = 0.0f;
    load(a[0], b[0], A, B, 0, M, N, K);
    __syncthreads();
    for (int turn = 0; turn < tiles; ++turn) {
        if (turn + 1 < tiles) {
            load(a[turn % 2], b[turn % 2], A, B, (turn + 1) * T, M, N, K);  //!
        }
        for (int k = 0; k < T; ++k) {
            sum += a[turn % 2][threadIdx.y][k] * b[turn % 2][k][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < M && column < N) {
        C[size_t(row) * N + column] = sum;
    }
}
