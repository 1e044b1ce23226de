// The rest of K modulo 4 is entered in the middle of the loop body, through the cases of a switch.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    const float* a = A + size_t(row) * K;
    const float* b = B + column;
    float sum = 0.0f;
    int turns = (K + 3) / 4;
    switch (K % 4) {
        case 0: do { sum += *a++ * *b; b += N;
        case 3:      sum += *a++ * *b; b += N;
        case 2:      sum += *a++ * *b; b += N;
        case 1:      sum += *a++ * *b; b += N;
                } while (--turns > 0);
    }
    C[size_t(row) * N + column] = sum;
}
