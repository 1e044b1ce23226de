// Functions that are not inlined: one returns a struct, one takes a pointer to a local array.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

struct Place {
    int row, column;
    bool inside;
};

__device__ __noinline__ Place place(int M, int N)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    return {row, column, row < M && column < N};
}

__device__ __noinline__ void four_products(float sums[4], const float* a, const float* b, int pitch)
{
    for (int i = 0; i < 4; ++i) sums[i] += a[i] * b[size_t(i) * pitch];
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const Place own = place(M, N);
    if (!own.inside) return;
    float sums[4] = {};
    int k = 0;
    for (; k + 4 <= K; k += 4) {
        four_products(sums, A + size_t(own.row) * K + k, B + size_t(k) * N + own.column, N);
    }
    for (; k < K; ++k) sums[0] += A[size_t(own.row) * K + k] * B[size_t(k) * N + own.column];
    C[size_t(own.row) * N + own.column] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
