// Mistake: the flag behind which another block adds to a tile stands behind a fence for the own block alone.
//
// /// launch
// [[scratch]]
// name = "flags"
// dtype = "uint32"
// shape = ["cdiv(M, T) * cdiv(N, T)"]
//
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, T) * cdiv(N, T) * 2"]
// block = ["T", "T"]
// args = ["A", "B", "C", "flags", "M", "N", "K"]
// zero = ["flags"]
// ///

constexpr int T = 16;
// Two blocks share the K of a tile. The even one stores its sums and raises a flag, the odd one adds to them.
extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B, float* C, volatile unsigned* flags, int M, int N, int K)
{
    __shared__ float a[T][T + 1], b[T][T + 1];
    const int tile = blockIdx.x / 2, second = blockIdx.x % 2;
    const int across = (N + T - 1) / T;
    const int row = tile / across * T + threadIdx.y, column = tile % across * T + threadIdx.x;
    const int middle = (K / 2 + T - 1) / T * T, begin = second ? min(middle, K) : 0, end = second ? K : min(middle, K);
    float sum = 0;
    for (int k = begin; k < end; k += T) {
        const int ka = k + threadIdx.x, kb = k + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < M && ka < end ? A[size_t(row) * K + ka] : 0.0f;
        b[threadIdx.y][threadIdx.x] = kb < end && column < N ? B[size_t(kb) * N + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    const bool inside = row < M && column < N;
    if (!second) {
        if (inside) C[size_t(row) * N + column] = sum;
        __syncthreads();  // all have stored
        if (threadIdx.x == 0 && threadIdx.y == 0) { __threadfence_block(); flags[tile] = 1; }
    } else {
        if (threadIdx.x == 0 && threadIdx.y == 0) while (flags[tile] == 0) { }
        __syncthreads();
        if (inside) C[size_t(row) * N + column] += sum;
    }
}
