// Eight warps compute and eight fetch tiles for them into two buffers. Each buffer has two named
// barriers, one that says it is full and one that says it is empty: who announces only arrives,
// who needs it waits, and all 512 threads are counted.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = [512]
// ///

constexpr int T = 16;
constexpr int FULL = 1, EMPTY = 3;  // barriers 1, 2 and 3, 4

__device__ void wait_at(int barrier) { asm volatile("bar.sync %0, 512;" ::"r"(barrier) : "memory"); }
__device__ void arrive_at(int barrier) { asm volatile("bar.arrive %0, 512;" ::"r"(barrier) : "memory"); }

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[2][T][T], b[2][T][T];
    const int across = (N + T - 1) / T, tiles = (K + T - 1) / T;
    const int t = threadIdx.x % 256, x = t % T, y = t / T;
    const int row = blockIdx.x / across * T + y, column = blockIdx.x % across * T + x;
    if (threadIdx.x >= 256) {
        for (int tile = 0; tile < tiles; ++tile) {
            const int turn = tile % 2, first = tile * T;
            if (tile >= 2) wait_at(EMPTY + turn);
            a[turn][y][x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
            b[turn][y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
            arrive_at(FULL + turn);
        }
        return;
    }
    float sum = 0.0f;
    for (int tile = 0; tile < tiles; ++tile) {
        const int turn = tile % 2;
        wait_at(FULL + turn);
        for (int k = 0; k < T; ++k) sum += a[turn][y][k] * b[turn][k][x];
        if (tile + 2 < tiles) arrive_at(EMPTY + turn);
    }
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
