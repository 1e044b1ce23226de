// Wrong: a row of A is kept in shared memory that has room for 2048 elements, whatever K is.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["M"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 64;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float row[2048];
    for (int k = threadIdx.x; k < K; k += BLOCK) {
        row[k] = A[size_t(blockIdx.x) * K + k];
    }
    __syncthreads();
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += row[k] * B[size_t(k) * N + column];
        }
        C[size_t(blockIdx.x) * N + column] = sum;
    }
}
