// Persistent blocks draw tiles, and the barrier behind the last use of the number is missing:
// thread 0 draws the next while others still look at this one.
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

extern "C" __global__ void gemm(const float* A, const float* B, float* C, unsigned* next, int M, int N, int K)
{
    __shared__ unsigned ticket;
    const unsigned across = (N + T - 1) / T, tiles = across * ((M + T - 1) / T);
    while (true) {
        if (threadIdx.x == 0 && threadIdx.y == 0) ticket = atomicAdd(next, 1u);
        __syncthreads();
        if (ticket >= tiles) return;
        const int row = ticket / across * T + threadIdx.y, column = ticket % across * T + threadIdx.x;
        float sum = 0.0f;
        if (row < M && column < N) {
            for (int k = 0; k < K; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
            C[size_t(row) * N + column] = sum;
        }
    }
}
