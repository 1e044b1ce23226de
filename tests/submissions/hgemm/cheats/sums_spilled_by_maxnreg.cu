// __maxnreg__(40): 128 sums a thread, of which ptxas spills most.
//
// deserves: 03_shared_tile
//
// /// launch
// [[scratch]]
// name = "A_padded"
// dtype = "float16"
// shape = ["cdiv(M, V) * V", "cdiv(K, V) * V"]
//
// [[scratch]]
// name = "B_padded"
// dtype = "float16"
// shape = ["cdiv(K, V) * V", "cdiv(N, V) * V"]
//
// [[launch]]
// kernel = "pad"
// when = "K % V != 0 or N % V != 0"
// args = ["A", "A_padded", "M", "K"]
// grid = ["cdiv(cdiv(M, V) * V * cdiv(K, V), PAD_THREADS)"]
// block = ["PAD_THREADS"]
//
// [[launch]]
// kernel = "pad"
// when = "K % V != 0 or N % V != 0"
// args = ["B", "B_padded", "K", "N"]
// grid = ["cdiv(cdiv(K, V) * V * cdiv(N, V), PAD_THREADS)"]
// block = ["PAD_THREADS"]
//
// [[launch]]
// kernel = "hgemm"
// when = "K % V != 0 or N % V != 0"
// args = ["A_padded", "B_padded", "C", "M", "N", "K"]
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "hgemm"
// when = "K % V == 0 and N % V == 0"
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// ///

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int BM = 128;   // rows of C that a block computes
constexpr int BN = 128;   // columns of C that a block computes
constexpr int BK = 64;    // steps of k between two barriers: four fragments deep
constexpr int WM = 64;    // rows of C that a warp computes: 4 fragments
constexpr int WN = 64;    // columns of C that a warp computes: 4 fragments
constexpr int TILE = 16;  // side of a fragment

constexpr int WARPS_M = BM / WM;
constexpr int WARPS_N = BN / WN;
constexpr int THREADS = WARPS_M * WARPS_N * 32;

constexpr int V = 8;              // halves in 16 bytes: what is moved at a time
constexpr int PAD_THREADS = 256;  // threads of a block that pads

// Halves added to each row of a tile, 16 bytes. Loading a fragment reads 8 rows of 16 bytes at a
// time. Where rows are 128 or 256 bytes long, these 8 pieces lie in the same four banks. With rows
// of 144 and 272 bytes, 9 and 17 pieces, each begins four banks further than the one before.
constexpr int PAD = 8;
constexpr int A_LENGTH = BK + PAD;  // halves from one row of a tile of A to the next
constexpr int B_LENGTH = BN + PAD;  // and of a tile of B

using FragmentA = wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major>;
using FragmentB = wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float>;

// The smallest multiple of V that is not below x.
__device__ constexpr int round_up(int x)
{
    return (x + V - 1) / V * V;
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

// Copies a tile of ROWS × COLUMNS halves to shared memory, where its rows lie LENGTH halves apart.
// It begins at (row, column) of a row-major matrix of rows × columns, and has zeros beyond the
// edges. Consecutive threads take consecutive pieces of 16 bytes. Columns are a multiple of V, so a
// piece is all inside or all outside.
template <int ROWS, int COLUMNS, int LENGTH>
__device__ void load_tile(half* tile, const half* matrix, int row, int column, int rows,
                          int columns)
{
    constexpr int PIECES = COLUMNS / V;  // of a row
    static_assert(ROWS * PIECES % THREADS == 0, "every thread copies as much");
    #pragma unroll
    for (int piece = 0; piece < ROWS * PIECES / THREADS; ++piece) {
        const int r = (threadIdx.x + piece * THREADS) / PIECES;
        const int c = (threadIdx.x + piece * THREADS) % PIECES * V;
        const half* const source = matrix + size_t(row + r) * columns + column + c;
        uint4 halves = make_uint4(0, 0, 0, 0);
        if (row + r < rows && column + c < columns) {
            halves = *reinterpret_cast<const uint4*>(source);
        }
        *reinterpret_cast<uint4*>(tile + r * LENGTH + c) = halves;
    }
}

// Writes a fragment of sums to C at (row, column). A fragment can only be stored whole, and only to
// rows that are a multiple of 8 floats long; elsewhere it goes through `edge`, TILE · TILE floats
// of shared memory that belong to this warp, and the lanes copy what lies inside of C.
__device__ void store(float* C, const Sum& sum, int row, int column, int M, int N, float* edge)
{
    if (row + TILE <= M && column + TILE <= N && N % V == 0) {
        wmma::store_matrix_sync(C + size_t(row) * N + column, sum, N, wmma::mem_row_major);
        return;
    }
    wmma::store_matrix_sync(edge, sum, TILE, wmma::mem_row_major);
    __syncwarp();  // all lanes have stored their share
    #pragma unroll 1
    for (int i = threadIdx.x % 32; i < TILE * TILE; i += 32) {
        const int r = row + i / TILE;
        const int c = column + i % TILE;
        if (r < M && c < N) {
            C[size_t(r) * N + c] = edge[i];
        }
    }
    __syncwarp();  // all lanes have read before the next fragment comes
}

// C = A · B, all row-major, A and B half, C float: C is M × N. The rows of A are round_up(K) long
// and those of B round_up(N), with zeros beyond K and N, and B has rows of zeros up to round_up(K):
// that is the case for the padded copies, and for any matrix whose sides are multiples of V.
extern "C" __global__ void __maxnreg__(40)
hgemm(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N,
      int K)
{
    // WMMA wants the tiles at multiples of 32 bytes.
    __shared__ __align__(32) half a_tile[BM * A_LENGTH];  // BM rows of A × BK steps of k
    __shared__ __align__(32) half b_tile[BK * B_LENGTH];  // BK steps of k × BN columns of B
    __shared__ __align__(32) float edges[WARPS_M * WARPS_N][TILE * TILE];

    const int blocks_across = (N + BN - 1) / BN;
    const int block_row = blockIdx.x / blocks_across * BM;     // first row of C of this block
    const int block_column = blockIdx.x % blocks_across * BN;  // and its first column
    const int warp = threadIdx.x / 32;
    const int warp_row = warp / WARPS_N * WM;     // first row of this warp within the block's
    const int warp_column = warp % WARPS_N * WN;  // and its first column

    Sum sum[WM / TILE][WN / TILE];
    #pragma unroll
    for (int i = 0; i < WM / TILE; ++i) {
        #pragma unroll
        for (int j = 0; j < WN / TILE; ++j) {
            wmma::fill_fragment(sum[i][j], 0.0f);
        }
    }

    for (int k_start = 0; k_start < K; k_start += BK) {
        load_tile<BM, BK, A_LENGTH>(a_tile, A, block_row, k_start, M, round_up(K));
        load_tile<BK, BN, B_LENGTH>(b_tile, B, k_start, block_column, round_up(K), round_up(N));
        __syncthreads();  // both tiles are complete

        #pragma unroll
        for (int k = 0; k < BK; k += TILE) {
            FragmentA a[WM / TILE];
            FragmentB b[WN / TILE];
            #pragma unroll
            for (int i = 0; i < WM / TILE; ++i) {
                const half* const from = a_tile + (warp_row + i * TILE) * A_LENGTH + k;
                wmma::load_matrix_sync(a[i], from, A_LENGTH);
            }
            #pragma unroll
            for (int j = 0; j < WN / TILE; ++j) {
                const half* const from = b_tile + k * B_LENGTH + warp_column + j * TILE;
                wmma::load_matrix_sync(b[j], from, B_LENGTH);
            }
            #pragma unroll
            for (int i = 0; i < WM / TILE; ++i) {
                #pragma unroll
                for (int j = 0; j < WN / TILE; ++j) {
                    wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
                }
            }
        }
        __syncthreads();  // both tiles have been read
    }

    float* const edge = edges[warp];
    #pragma unroll
    for (int i = 0; i < WM / TILE; ++i) {
        #pragma unroll
        for (int j = 0; j < WN / TILE; ++j) {
            const int row = block_row + warp_row + i * TILE;
            const int column = block_column + warp_column + j * TILE;
            store(C, sum[i][j], row, column, M, N, edge);
        }
    }
}
