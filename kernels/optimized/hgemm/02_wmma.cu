// The Tensor Cores, by way of the WMMA interface: one instruction of a warp multiplies a 16 × 16
// tile of A by a 16 × 16 tile of B and adds the product to a 16 × 16 tile of sums, 4096
// multiply-adds. The tiles are fragments, spread over the registers of the warp's 32 threads; where
// which element lies is nobody's business. A warp computes one tile of C and loads its fragments
// straight from global memory.
//
// What it should buy: the multiply-adds of 128 warp instructions in one. (An H200 makes two machine
// instructions of it.) From here on arithmetic is cheap, and the ladder is about feeding it: for
// each 4096 multiply-adds this rung fetches two whole tiles.
//
// A fragment has no edges: loading one reads 256 elements. So all three sizes must be multiples of
// 16. For other sizes the product is made of padded copies, into a padded C, from which a last
// launch copies what is wanted.
//
// /// launch
// [[scratch]]
// name = "A_padded"
// dtype = "float16"
// shape = ["cdiv(M, TILE) * TILE", "cdiv(K, TILE) * TILE"]
//
// [[scratch]]
// name = "B_padded"
// dtype = "float16"
// shape = ["cdiv(K, TILE) * TILE", "cdiv(N, TILE) * TILE"]
//
// [[scratch]]
// name = "C_padded"
// dtype = "float32"
// shape = ["cdiv(M, TILE) * TILE", "cdiv(N, TILE) * TILE"]
//
// [[launch]]
// kernel = "pad"
// when = "M % TILE != 0 or N % TILE != 0 or K % TILE != 0"
// args = ["A", "A_padded", "M", "K"]
// grid = ["cdiv(cdiv(M, TILE) * TILE * cdiv(K, TILE) * TILE, V * PAD_THREADS)"]
// block = ["PAD_THREADS"]
//
// [[launch]]
// kernel = "pad"
// when = "M % TILE != 0 or N % TILE != 0 or K % TILE != 0"
// args = ["B", "B_padded", "K", "N"]
// grid = ["cdiv(cdiv(K, TILE) * TILE * cdiv(N, TILE) * TILE, V * PAD_THREADS)"]
// block = ["PAD_THREADS"]
//
// [[launch]]
// kernel = "hgemm"
// when = "M % TILE != 0 or N % TILE != 0 or K % TILE != 0"
// args = ["A_padded", "B_padded", "C_padded", "M", "N", "K"]
// grid = ["cdiv(N, WARPS_N * TILE) * cdiv(M, WARPS_M * TILE)"]
// block = ["WARPS_M * WARPS_N * 32"]
//
// [[launch]]
// kernel = "crop"
// when = "M % TILE != 0 or N % TILE != 0 or K % TILE != 0"
// args = ["C_padded", "C", "M", "N"]
// grid = ["cdiv(M * N, PAD_THREADS)"]
// block = ["PAD_THREADS"]
//
// [[launch]]
// kernel = "hgemm"
// when = "M % TILE == 0 and N % TILE == 0 and K % TILE == 0"
// grid = ["cdiv(N, WARPS_N * TILE) * cdiv(M, WARPS_M * TILE)"]
// block = ["WARPS_M * WARPS_N * 32"]
// ///

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 16;    // side of a fragment
constexpr int WARPS_M = 4;  // warps of a block below one another, a tile of C each
constexpr int WARPS_N = 2;  // and beside one another: a block computes 64 × 32 elements of C

constexpr int V = 8;              // halves that a thread pads at a time
constexpr int PAD_THREADS = 256;  // threads of a block that pads or crops

// The smallest multiple of TILE that is not below x.
__device__ constexpr int round_up(int x)
{
    return (x + TILE - 1) / TILE * TILE;
}

// Copies a matrix of rows × columns, row-major, into one of round_up(rows) × round_up(columns),
// with zeros where the source has nothing. A thread writes V neighbouring halves, all at once.
extern "C" __global__ void pad(const half* __restrict__ source, half* __restrict__ target, int rows,
                               int columns)
{
    const int pieces_a_row = round_up(columns) / V;
    const int piece = blockIdx.x * PAD_THREADS + threadIdx.x;
    const int row = piece / pieces_a_row;
    const int column = piece % pieces_a_row * V;
    if (row >= round_up(rows)) {
        return;
    }

    __align__(16) half values[V];
    #pragma unroll
    for (int i = 0; i < V; ++i) {
        const bool inside = row < rows && column + i < columns;
        values[i] = inside ? source[size_t(row) * columns + column + i] : half(0.0f);
    }
    *reinterpret_cast<uint4*>(target + size_t(piece) * V) = *reinterpret_cast<const uint4*>(values);
}

// Copies the first columns of the first rows of a matrix that is round_up(columns) wide.
extern "C" __global__ void crop(const float* __restrict__ source, float* __restrict__ target,
                                int rows, int columns)
{
    const size_t element = size_t(blockIdx.x) * PAD_THREADS + threadIdx.x;
    const int row = element / columns;
    const int column = element % columns;
    if (row < rows) {
        target[element] = source[size_t(row) * round_up(columns) + column];
    }
}

// C = A · B, all row-major, A and B half, C float: A is M × K, B is K × N, C is M × N, all three
// rounded up to multiples of TILE.
extern "C" __global__ void __launch_bounds__(WARPS_M * WARPS_N * 32)
hgemm(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N,
      int K)
{
    const int blocks_across = (N + WARPS_N * TILE - 1) / (WARPS_N * TILE);
    const int warp = threadIdx.x / 32;
    const int row = (blockIdx.x / blocks_across * WARPS_M + warp / WARPS_N) * TILE;
    const int column = (blockIdx.x % blocks_across * WARPS_N + warp % WARPS_N) * TILE;
    if (row >= M || column >= N) {
        return;  // the whole warp: a fragment is a matter of all 32 threads
    }

    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;  // float: not half
    wmma::fill_fragment(sum, 0.0f);

    const int a_length = round_up(K);
    const int b_length = round_up(N);
    for (int k = 0; k < K; k += TILE) {
        wmma::load_matrix_sync(a, A + size_t(row) * a_length + k, a_length);
        wmma::load_matrix_sync(b, B + size_t(k) * b_length + column, b_length);
        wmma::mma_sync(sum, a, b, sum);
    }
    float* const c = C + size_t(row) * b_length + column;
    wmma::store_matrix_sync(c, sum, b_length, wmma::mem_row_major);
}
