// The multiply-add is a function pointer that the template takes; the compiler knows it and calls
// it directly.
//
// /// launch
// [[launch]]
// kernel = "gemm<multiply_add>"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

__device__ float multiply_add(float a, float b, float sum) { return a * b + sum; }

template <float (*STEP)(float, float, float)>
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum = STEP(A[size_t(row) * K + k], B[size_t(k) * N + column], sum);
    C[size_t(row) * N + column] = sum;
}
