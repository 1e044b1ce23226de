// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, SIDE)", "cdiv(M, SIDE)", "PARTS"]
// block = ["SIDE", "SIDE"]
// zero = ["C"]
// ///

constexpr int SIDE = 16;   // of a block's part of C
constexpr int PARTS = 8;   // of K

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * SIDE + threadIdx.y;
    const int column = blockIdx.x * SIDE + threadIdx.x;
    if (row >= M || column >= N) {
        return;
    }
    const int part = K / PARTS;  //!
    const int first = blockIdx.z * part;
    const int end = first + part;  //!

    float sum = 0.0f;
    for (int k = first; k < end; ++k) {
        sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    }
    atomicAdd(&C[size_t(row) * N + column], sum);
}
