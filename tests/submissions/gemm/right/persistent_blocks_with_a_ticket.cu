// A fixed number of blocks draws tiles of C from a counter until none is left. Thread 0 draws, the
// block reads the number behind a barrier.
//
// /// launch
// [[scratch]]
// name = "next"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "gemm"
// args = ["A", "B", "C", "next", "M", "N", "K"]
// grid = ["min(SMS, cdiv(M, T) * cdiv(N, T))"]
// block = ["T", "T"]
// zero = ["next"]
// ///

constexpr int T = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, unsigned* next,
                                int M, int N, int K)
{
    __shared__ float a[T][T], b[T][T];
    __shared__ unsigned ticket;
    const int x = threadIdx.x, y = threadIdx.y;
    const unsigned across = (N + T - 1) / T, tiles = across * ((M + T - 1) / T);
    while (true) {
        if (x == 0 && y == 0) ticket = atomicAdd(next, 1u);
        __syncthreads();
        const unsigned tile = ticket;
        if (tile >= tiles) return;
        const int row = tile / across * T + y, column = tile % across * T + x;
        float sum = 0.0f;
        for (int first = 0; first < K; first += T) {
            a[y][x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
            b[y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
            __syncthreads();
            for (int k = 0; k < T; ++k) sum += a[y][k] * b[k][x];
            __syncthreads();
        }
        if (row < M && column < N) C[size_t(row) * N + column] = sum;
        __syncthreads();
    }
}
