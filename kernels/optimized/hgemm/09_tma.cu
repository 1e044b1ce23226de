// Tiles come by the Tensor Memory Accelerator. One thread names a box of the matrix, and a unit of the
// multiprocessor fetches it, finds the addresses, swizzles, and fills with zeros what lies outside.
// An mbarrier counts the bytes that have arrived: whoever needs the tiles waits for its phase.
//
// What it should buy: no instructions for addresses and copies. Eight warps made some 12 cp.async each for a pair of
// tiles, with the arithmetic before them; now one thread makes 5 copies. By itself this saves no time, and the warps
// wait longer for each pair than they did for their own copies. It is worth having because wgmma, the next rung, takes
// its operands from shared memory in just the order that TMA writes.
//
// /// launch
// smallest_arch = "sm_90"
// side_step = true
//
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
// [[tensor_map]]
// name = "A_map"
// array = "A"
// shape = ["M", "K"]
// box = ["BM", "ROW"]
// swizzle = 128
//
// [[tensor_map]]
// name = "B_map"
// array = "B"
// shape = ["K", "N"]
// box = ["BK", "ROW"]
// swizzle = 128
//
// [[tensor_map]]
// name = "A_padded_map"
// array = "A_padded"
// shape = ["M", "cdiv(K, V) * V"]
// box = ["BM", "ROW"]
// swizzle = 128
//
// [[tensor_map]]
// name = "B_padded_map"
// array = "B_padded"
// shape = ["cdiv(K, V) * V", "cdiv(N, V) * V"]
// box = ["BK", "ROW"]
// swizzle = 128
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
// args = ["A_padded_map", "B_padded_map", "C", "M", "N", "K"]
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
//
// [[launch]]
// kernel = "hgemm"
// when = "K % V == 0 and N % V == 0"
// args = ["A_map", "B_map", "C", "M", "N", "K"]
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
// ///

#include <cuda.h>
#include <cuda_fp16.h>

constexpr int BM = 128;    // rows of C that a block computes
constexpr int BN = 256;    // columns of C that a block computes
constexpr int BK = 64;     // steps of k in a tile
constexpr int ROW = 64;    // halves in a row of a box: 128 bytes, all banks, and what a swizzle takes
constexpr int WM = 64;     // rows of C that a warp computes: 4 fragments of A
constexpr int WN = 64;     // columns of C that a warp computes: 8 operands b
constexpr int STAGES = 4;  // pairs of tiles in shared memory, 48 KiB each

constexpr int WARPS_M = BM / WM;
constexpr int WARPS_N = BN / WN;
constexpr int THREADS = WARPS_M * WARPS_N * 32;

constexpr int V = 8;              // halves in 16 bytes: what is moved at a time
constexpr int HALF = 2;           // bytes of a half
constexpr int PAD_THREADS = 256;  // threads of a block that pads

constexpr int A_TILE = BM * BK;    // halves of a tile of A
constexpr int B_PIECE = BK * ROW;  // of a box of B
constexpr int B_TILE = BK * BN;    // and of a tile of B, BN / ROW boxes beside one another
constexpr int PAIR_BYTES = (A_TILE + B_TILE) * HALF;
constexpr int SHARED_BYTES = STAGES * PAIR_BYTES;
static_assert(BK == ROW && WN == ROW, "a box is as wide as a tile of A, and as a warp's part of B");

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

// Makes a barrier of one thread, which announces bytes; its phase is over when they have arrived.
__device__ void make_barrier(unsigned barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

// Arrives at the barrier, and announces so many bytes to its current phase.
__device__ void expect_bytes(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

// Waits until the barrier's phase of that parity is over: phases are counted from 0.
__device__ void wait_for(unsigned barrier, int parity)
{
    asm volatile("{\n"
                 ".reg .pred over;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@!over bra again;\n"
                 "}" ::"r"(barrier), "r"(parity)
                 : "memory");
}

// Starts to copy a box to shared memory: its first element is at (row, column). The barrier is told of its bytes.
__device__ void start_box(unsigned target, const CUtensorMap& map, int row, int column, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(target), "l"(&map), "r"(column), "r"(row), "r"(barrier)
                 : "memory");
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
        load_transposed(fragments.b[j], (b_from ^ j * 16 * HALF) + k * ROW * HALF);
    }
}

// Where in a box the piece of 16 bytes with (row, column) lies, column a multiple of V. That is the swizzle of 128
// bytes: in a row, piece p goes to place p ^ (row % 8).
__device__ constexpr int place(int row, int column)
{
    return row * ROW + (column / V ^ row % 8) * V;
}

// The address of what ldmatrix asks of this lane in the 16 × 16 halves at (row, 0) of a box: lanes 0 to 15 give the
// rows of the left half, lanes 16 to 31 those of the right half.
__device__ unsigned first_address(const half* box, int row)
{
    const int lane = threadIdx.x % 32;
    return __cvta_generic_to_shared(box + place(row + lane % 16, lane / 16 * V));
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

// C = A · B, all row-major, A and B half, C float: C is M × N. `A` and `B` say where the matrices lie and how large
// they are; what a box has beyond is zero.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
hgemm(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
      float* __restrict__ C, int M, int N, int K)
{
    extern __shared__ __align__(1024) half shared[];  // a swizzle repeats after 8 rows of 128 bytes
    __shared__ unsigned long long full[STAGES];       // mbarriers: the pair of tiles has come
    half* const a_tiles = shared;                     // STAGES tiles of BM rows × BK steps of k
    half* const b_tiles = shared + STAGES * A_TILE;   // STAGES tiles of BK steps of k × BN columns
    const unsigned first_barrier = __cvta_generic_to_shared(full);

    const int blocks_across = (N + BN - 1) / BN;
    const int block_row = blockIdx.x / blocks_across * BM;     // first row of C of this block
    const int block_column = blockIdx.x % blocks_across * BN;  // and its first column
    const int warp = threadIdx.x / 32;
    const int warp_row = warp / WARPS_N * WM;     // first row of this warp within the block's
    const int warp_column = warp % WARPS_N * WN;  // and its first column

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            make_barrier(first_barrier + stage * 8);
        }
        // The copies are made by another unit, which is to see the barriers as well.
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    // Starts the copies of a pair of tiles; beyond the end of k there is none. One thread does it.
    const int tiles = (K + BK - 1) / BK;
    const auto start = [&](int tile) {
        if (tile >= tiles || threadIdx.x != 0) {
            return;
        }
        const int stage = tile % STAGES;
        const unsigned barrier = first_barrier + stage * 8;
        expect_bytes(barrier, PAIR_BYTES);
        start_box(__cvta_generic_to_shared(a_tiles + stage * A_TILE), A, block_row, tile * BK, barrier);
        #pragma unroll
        for (int piece = 0; piece < BN / ROW; ++piece) {
            half* const target = b_tiles + stage * B_TILE + piece * B_PIECE;
            start_box(__cvta_generic_to_shared(target), B, tile * BK, block_column + piece * ROW, barrier);
        }
    };

    // What this lane is asked for in the first pair of tiles; the next ones lie behind one another.
    const unsigned a_from = first_address(a_tiles, warp_row);
    const unsigned b_from = first_address(b_tiles + warp_column / ROW * B_PIECE, 0);

    float sum[WM / 16][WN / 8][4] = {};
    for (int tile = 0; tile < STAGES - 1; ++tile) {
        start(tile);
    }
    wait_for(first_barrier, 0);  // the first pair of tiles has come
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
                const int ahead = min(tile + 1, tiles - 1);  // the last one is read again
                wait_for(first_barrier + ahead % STAGES * 8, ahead / STAGES % 2);
                load(next, a_from + ahead % STAGES * A_TILE * HALF, b_from + ahead % STAGES * B_TILE * HALF, 0);
            }
            if (step == 0) {
                __syncthreads();           // all have read the pair before this one,
                start(tile + STAGES - 1);  // which is overwritten now
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
