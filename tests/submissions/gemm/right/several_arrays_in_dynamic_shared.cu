// Both tiles and a vector of row numbers lie one behind the other in dynamic shared memory.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = ["T", "T"]
// shared = "4 * (T * T + T * T + T)"
// ///

constexpr int T = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    extern __shared__ char memory[];
    float* const a = reinterpret_cast<float*>(memory);
    float* const b = a + T * T;
    int* const rows = reinterpret_cast<int*>(b + T * T);
    const int x = threadIdx.x, y = threadIdx.y, across = (N + T - 1) / T;
    const int column = blockIdx.x % across * T + x;
    if (x == 0) rows[y] = blockIdx.x / across * T + y;
    __syncthreads();
    const int row = rows[y];
    float sum = 0.0f;
    for (int first = 0; first < K; first += T) {
        a[y * T + x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
        b[y * T + x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += a[y * T + k] * b[k * T + x];
        __syncthreads();
    }
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
