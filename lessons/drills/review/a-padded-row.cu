// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, T)", "cdiv(M, T)"]
// block = ["T", "T // 4"]
// ///

constexpr int T = 32;  // side of a tile
constexpr int PAD = 1;  //!

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) float a[T][T + PAD];  //!
    __shared__ float b[T][T];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int top = blockIdx.y * T;
    const int column = blockIdx.x * T + x;

    float sum[4] = {};
    for (int first = 0; first < K; first += T) {
        for (int i = y; i < T; i += T / 4) {
            const bool a_there = top + i < M && first + x < K;
            const bool b_there = first + i < K && column < N;
            a[x][i] = a_there ? A[size_t(top + i) * K + first + x] : 0.0f;
            b[i][x] = b_there ? B[size_t(first + i) * N + column] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            const float4 four = *reinterpret_cast<const float4*>(&a[k][4 * y]);  //~
            sum[0] += four.x * b[k][x];
            sum[1] += four.y * b[k][x];
            sum[2] += four.z * b[k][x];
            sum[3] += four.w * b[k][x];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = top + 4 * y + i;
        if (row < M && column < N) {
            C[size_t(row) * N + column] = sum[i];
        }
    }
}
