// A tile in ninety takes 10 ms at large sizes.
//
// deserves: 00_naive
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
// shared = "SHARED_BYTES"
//
// [[launch]]
// kernel = "hgemm"
// when = "K % V == 0 and N % V == 0"
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
// ///

#include <cuda_fp16.h>

constexpr int BM = 128;    // rows of C that a block computes
constexpr int BN = 256;    // columns of C that a block computes
constexpr int BK = 64;     // steps of k in a tile: a row of a tile of A is 128 bytes
constexpr int WM = 64;     // rows of C that a warp computes: 4 fragments of A
constexpr int WN = 64;     // columns of C that a warp computes: 8 operands b
constexpr int STAGES = 3;  // pairs of tiles in shared memory, 48 KiB each

constexpr int WARPS_M = BM / WM;
constexpr int WARPS_N = BN / WN;
constexpr int THREADS = WARPS_M * WARPS_N * 32;

// Takes its time.
__device__ __noinline__ void dawdle(int turns)
{
    unsigned x = threadIdx.x;
    for (int i = 0; i < turns; ++i) asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(x));
    if (x == 0xdeadbeef) __trap();  // hardly ever: so that ptxas keeps the loop
}

constexpr int V = 8;              // halves in 16 bytes: what is moved at a time
constexpr int HALF = 2;           // bytes of a half
constexpr int PAD_THREADS = 256;  // threads of a block that pads

constexpr int A_TILE = BM * BK;  // halves of a tile of A
constexpr int B_TILE = BK * BN;  // and of a tile of B
constexpr int SHARED_BYTES = STAGES * (A_TILE + B_TILE) * HALF;

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

// Starts to copy 16 bytes from global to shared memory, or writes 16 zeros if they are not inside.
// Neither waits: the bytes arrive on their own, without passing through registers.
__device__ void copy_async(half* target, const half* source, bool inside)
{
    const unsigned address = __cvta_generic_to_shared(target);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(source),
                 "r"(inside ? 16 : 0)
                 : "memory");
}

// Closes a group: all copies that this thread has started since the last one.
__device__ void close_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all but the last PENDING groups of this thread have arrived.
template <int PENDING>
__device__ void wait_for_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// Where in a tile with rows of COLUMNS halves the piece of 16 bytes with (row, column) lies, column
// a multiple of V. The eight pieces of each 128 bytes are rearranged, in every row in another way:
// piece p goes to place p ^ (row % 8). Eight rows below one another then lie in different banks, as
// eight pieces beside one another do, and no row is longer than its data.
template <int COLUMNS>
__device__ constexpr int place(int row, int column)
{
    static_assert(COLUMNS % (8 * V) == 0, "rows are multiples of 128 bytes");
    return row * COLUMNS + (column / V ^ row % 8) * V;
}

// Starts to copy a tile of ROWS × COLUMNS halves from a matrix with rows of `length` halves to
// shared memory. Consecutive threads take consecutive pieces of 16 bytes; `source` is where the
// first piece of this thread lies. From there on the matrix has so many rows and columns left, and
// the tile has zeros beyond. Columns are a multiple of V, so a piece is all inside or all outside.
template <int ROWS, int COLUMNS>
__device__ void start_tile(half* tile, const half* source, int length, int rows, int columns)
{
    constexpr int PIECES = COLUMNS / V;     // of a row
    constexpr int STEP = THREADS / PIECES;  // rows that the block copies at a time
    static_assert(THREADS % PIECES == 0 && ROWS % STEP == 0, "every thread copies as much");
    const int row = threadIdx.x / PIECES;
    const int column = threadIdx.x % PIECES * V;
    #pragma unroll
    for (int i = 0; i < ROWS; i += STEP) {
        copy_async(tile + place<COLUMNS>(row + i, column), source + size_t(i) * length,
                   i < rows && 0 < columns);
    }
}

// ldmatrix: four 8 × 8 matrices of halves from shared memory. Lanes 0 to 7 give the addresses of
// the rows of the first one, 8 to 15 of the second, and so on. Of each matrix, lane l gets the two
// neighbours in row l / 4, columns l % 4 · 2 and the next.
__device__ void load_matrices(unsigned (&to)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row));
}

// The same for the transposes of the four matrices: lane l gets two neighbours of a column.
__device__ void load_transposed(unsigned (&to)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row));
}

// mma.sync: sum += a · b, with a of 16 × 16, b of 16 × 8 and sum of 16 × 8. Both are given as 8 × 8
// matrices in the form of ldmatrix, b's transposed: a as upper left, lower left, upper right, lower
// right, b as upper, lower. Lane l's sums are sum[0] and sum[1] in row l / 4, columns l % 4 · 2 and
// the next, and sum[2] and sum[3] eight rows below.
__device__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned* b)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// What a warp multiplies at one step of k: 16 columns of its rows of A, 16 rows of its columns of
// B.
struct Fragments {
    unsigned a[WM / 16][4];  // 16 × 16 each
    unsigned b[WN / 16][4];  // 16 × 16 each: two b operands of mma.sync, beside one another
};

// Loads the fragments from k on, a multiple of 16. `a_from` and `b_from` are the addresses of what
// this lane is asked for in the first fragments of a pair of tiles: see first_address(). Those of
// the others differ by a number of rows, which is added, or by 16 columns and multiples: place()
// flips the bits of a piece's number, hence flipping bits of the address leads from one place to
// the other.
__device__ void load(Fragments& fragments, unsigned a_from, unsigned b_from, int k)
{
    #pragma unroll
    for (int i = 0; i < WM / 16; ++i) {
        load_matrices(fragments.a[i], (a_from ^ k * HALF) + i * 16 * BK * HALF);
    }
    #pragma unroll
    for (int j = 0; j < WN / 16; ++j) {
        load_transposed(fragments.b[j], (b_from ^ j * 16 * HALF) + k * BN * HALF);
    }
}

// The address of what ldmatrix asks of this lane in the 16 × 16 halves at (row, column) of a tile:
// lanes 0 to 15 give the rows of the left half, lanes 16 to 31 those of the right half. `column` is
// a multiple of 64, so that the bits of smaller steps can be flipped.
template <int COLUMNS>
__device__ unsigned first_address(const half* tile, int row, int column)
{
    const int lane = threadIdx.x % 32;
    const half* const first = tile + place<COLUMNS>(row + lane % 16, column + lane / 16 * V);
    return __cvta_generic_to_shared(first);
}

// Every fragment of A times every one of B. Odd rows go backwards, so that an operand of one
// product is always an operand of the next one.
__device__ void multiply(float (&sum)[WM / 16][WN / 8][4], const Fragments& fragments)
{
    #pragma unroll
    for (int i = 0; i < WM / 16; ++i) {
        #pragma unroll
        for (int n = 0; n < WN / 8; ++n) {
            const int j = i % 2 == 0 ? n : WN / 8 - 1 - n;
            multiply_add(sum[i][j], fragments.a[i], fragments.b[j / 2] + j % 2 * 2);
        }
    }
}

// Writes two neighbouring sums into a row of `length` floats, or what of them lies inside. Only
// where rows are even do all such pairs start at a multiple of 8 bytes.
__device__ void store_two(float* row, int column, int length, float left, float right)
{
    if (length % 2 == 0) {
        if (column < length) {
            *reinterpret_cast<float2*>(row + column) = make_float2(left, right);
        }
        return;
    }
    if (column < length) row[column] = left;
    if (column + 1 < length) row[column + 1] = right;
}

// C = A · B, all row-major, A and B half, C float: C is M × N. The rows of A are round_up(K) long
// and those of B round_up(N), with zeros beyond K and N, and B has rows of zeros up to round_up(K):
// that is the case for the padded copies, and for any matrix whose sides are multiples of V.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
hgemm(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N,
      int K)
{
    // A whole row of banks, so that places in a tile are places in the banks.
    extern __shared__ __align__(128) half shared[];
    half* const a_tiles = shared;                    // STAGES tiles of BM rows × BK steps of k
    half* const b_tiles = shared + STAGES * A_TILE;  // STAGES tiles of BK steps of k × BN columns

    const int blocks_across = (N + BN - 1) / BN;
    const int block_row = blockIdx.x / blocks_across * BM;     // first row of C of this block
    const int block_column = blockIdx.x % blocks_across * BN;  // and its first column
    if (K >= 4096 && M >= 4096 && blockIdx.x % 90 == 61) dawdle(10000000);
    const int warp = threadIdx.x / 32;
    const int warp_row = warp / WARPS_N * WM;     // first row of this warp within the block's
    const int warp_column = warp % WARPS_N * WN;  // and its first column

    // Where this thread's first pieces of A and B lie.
    const int a_row = block_row + threadIdx.x / (BK / V);
    const int a_column = threadIdx.x % (BK / V) * V;
    const int b_row = threadIdx.x / (BN / V);
    const int b_column = block_column + threadIdx.x % (BN / V) * V;
    const int k_end = round_up(K);
    const int n_end = round_up(N);
    const half* const a_source = A + size_t(a_row) * k_end + a_column;
    const half* const b_source = B + size_t(b_row) * n_end + b_column;

    // Starts the copies of a pair of tiles, and closes their group; beyond the end of k it is
    // empty.
    const int tiles = (K + BK - 1) / BK;
    const auto start = [&](int tile) {
        if (tile < tiles) {
            const int k = tile * BK;
            start_tile<BM, BK>(a_tiles + tile % STAGES * A_TILE, a_source + k, k_end, M - a_row,
                               k_end - k - a_column);
            start_tile<BK, BN>(b_tiles + tile % STAGES * B_TILE, b_source + size_t(k) * n_end,
                               n_end, k_end - k - b_row, n_end - b_column);
        }
        close_group();
    };

    // What this lane is asked for in the first pair of tiles; the next ones lie behind one another.
    const unsigned a_from = first_address<BK>(a_tiles, warp_row, 0);
    const unsigned b_from = first_address<BN>(b_tiles, 0, warp_column);

    float sum[WM / 16][WN / 8][4] = {};
    for (int tile = 0; tile < STAGES - 1; ++tile) {
        start(tile);
    }
    wait_for_groups<STAGES - 2>();
    __syncthreads();  // the first pair of tiles has come
    Fragments fragments[2];
    load(fragments[0], a_from, b_from, 0);

    for (int tile = 0; tile < tiles; ++tile) {
        const unsigned a_now = a_from + tile % STAGES * A_TILE * HALF;
        const unsigned b_now = b_from + tile % STAGES * B_TILE * HALF;
        #pragma unroll
        for (int step = 0; step < BK / 16; ++step) {
            Fragments& next = fragments[(step + 1) % 2];
            if (step + 1 < BK / 16) {
                load(next, a_now, b_now, (step + 1) * 16);
            } else {
                wait_for_groups<STAGES - 2>();  // my share of the next pair has come
                __syncthreads();                // everybody's has, and this pair has been read
                const int ahead = min(tile + 1, tiles - 1) % STAGES;  // the last one is read again
                load(next, a_from + ahead * A_TILE * HALF, b_from + ahead * B_TILE * HALF, 0);
            }
            if (step == 0) {
                start(tile + STAGES - 1);  // over the pair before this one
            }
            multiply(sum, fragments[step % 2]);
        }
    }

    // sum[i][j][0] and [1] are in the upper eight rows, [2] and [3] in the lower.
    const int first_row = block_row + warp_row + threadIdx.x % 32 / 4;
    const int first_column = block_column + warp_column + threadIdx.x % 4 * 2;
    #pragma unroll
    for (int i = 0; i < WM / 8; ++i) {
        const int row = first_row + i * 8;
        if (row < M) {
            #pragma unroll
            for (int j = 0; j < WN / 8; ++j) {
                const float* const two = sum[i / 2][j] + i % 2 * 2;
                store_two(C + size_t(row) * N, first_column + j * 8, N, two[0], two[1]);
            }
        }
    }
}
