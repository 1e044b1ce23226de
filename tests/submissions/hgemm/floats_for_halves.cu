// Wrong: the inputs are arrays of halves, and are read as floats.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int BLOCK = 16;

extern "C" __global__ void hgemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M || column >= N) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[k * N + column];
    }
    C[row * N + column] = sum;
}
