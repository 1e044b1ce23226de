// Offsets are formed and divided in __int128: more than any matrix needs, and right.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const unsigned __int128 i = (unsigned __int128)blockIdx.x * 256 + threadIdx.x;
    if (i >= (unsigned __int128)M * N) return;
    const size_t row = size_t(i / N), column = size_t(i % N);
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[size_t(k) * N + column];
    C[size_t(i)] = sum;
}
