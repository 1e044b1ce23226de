// No loop but gotos: two nested loops whose bodies stand in the wrong order in the text.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    int column = threadIdx.x, k = 0;
    float sum = 0.0f;
    if (row >= M) goto done;
    goto column_head;

next_k:
    ++k;
k_head:
    if (k == K) goto store;
    sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    goto next_k;

store:
    C[size_t(row) * N + column] = sum;
    column += 32;
column_head:
    sum = 0.0f;
    k = 0;
    if (column < N) goto k_head;
done:
    return;
}
