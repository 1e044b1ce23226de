// The threads of a block share what they fetch: together they copy a tile of A and a tile of B into
// shared memory, then every thread reads both tiles from there. The 1024 threads need only 32 rows
// of A and 32 columns of B between them; so far each has fetched its own copy. The block walks along
// k in steps of 32, a pair of tiles at a time.
//
// What it should buy: each float that is brought in serves 32 threads. A square of 32 × 32 outputs
// needs 64·K floats from global memory, so the whole product takes M·N·K / 128 sectors where rung
// 01 asked for 5·M·N·K / 32, twenty times as many. The price is paid to shared memory: two loads
// for every multiply-add in PTX.
//
// Source: NVIDIA, CUDA C++ Programming Guide, "Shared Memory".
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "TILE"]
// ///

// Side of the square of C that a block computes, and of the tiles of A and B it keeps in shared
// memory (4 KiB each). One thread a float: 32 · 32 = 1024 threads, the most that a block may have.
constexpr int TILE = 32;

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B,
                                float* __restrict__ C, int M, int N, int K)
{
    __shared__ float a_tile[TILE][TILE];  // TILE rows of A × TILE steps of k
    __shared__ float b_tile[TILE][TILE];  // TILE steps of k × TILE columns of B

    const int tiles_across = (N + TILE - 1) / TILE;
    const int row = blockIdx.x / tiles_across * TILE + threadIdx.y;
    const int column = blockIdx.x % tiles_across * TILE + threadIdx.x;

    float sum = 0.0f;
    for (int k_start = 0; k_start < K; k_start += TILE) {
        // Beyond the edge of a matrix the tile is filled with zeros, which add nothing to the sum.
        // A thread whose own output lies beyond the edge still has to help with the loading, and to
        // meet the barrier.
        const int a_column = k_start + threadIdx.x;
        const int b_row = k_start + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] =
            row < M && a_column < K ? A[size_t(row) * K + a_column] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] =
            b_row < K && column < N ? B[size_t(b_row) * N + column] : 0.0f;
        __syncthreads();  // both tiles are complete before anybody reads them

        for (int k = 0; k < TILE; ++k) {
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        }
        __syncthreads();  // everybody has read before the next round overwrites the tiles
    }

    if (row < M && column < N) {
        C[size_t(row) * N + column] = sum;
    }
}
