// The threads of a warp stand as square as they can: 4 × 8 of them over 32 × 64 outputs, where rung
// 05 has 2 × 16 over a strip of 8 × 128 (and another, 64 rows below). They share what they read. A
// warp needs 32 floats of A and 64 of B at a step of k, 96, where the strips need 16 and 128.
//
// What it should buy: fewer wavefronts for the same instructions. A multiprocessor reads 16 bytes a
// lane a quarter of the warp at a time. It merges quarters of equal addresses only where each lane
// wants what its neighbour wants, lane i what i ^ 1 wants or i ^ 2. So lanes that share a column of
// threads are made neighbours, and so are, two apart, those that share a row: each read takes 2
// wavefronts, for A and for B. That makes 8 for 64 multiply-adds where rung 05 takes 12.
//
// /// launch
// [[launch]]
// kernel = "gemm<true>"
// when = "K % 4 == 0 and N % 4 == 0"
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "gemm<false>"
// when = "K % 4 != 0 or N % 4 != 0"
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// ///

constexpr int BM = 128;  // rows of C that a block computes
constexpr int BN = 128;  // columns of C that a block computes
constexpr int BK = 8;    // steps of k between two barriers: two float4s of a row of A
constexpr int TM = 8;    // rows of C that a thread computes: 4 of them and 4 more 16 rows below
constexpr int TN = 8;    // columns of C that a thread computes: 4 and 4 more 32 to the right
constexpr int V = 4;     // floats in a float4

// The warps of a block stand in a grid over its tile of C, and the 32 threads of a warp in a grid
// of 4 × 8 over the warp's.
constexpr int LANES_M = 4;
constexpr int LANES_N = 8;
constexpr int WM = LANES_M * TM;  // rows of C that a warp computes
constexpr int WN = LANES_N * TN;  // columns of C that a warp computes
constexpr int WARPS_M = BM / WM;
constexpr int WARPS_N = BN / WN;
constexpr int THREADS = WARPS_M * WARPS_N * 32;
static_assert(BM * BK == V * THREADS && BK * BN == V * THREADS, "one float4 of each tile a thread");

// Floats added to each row of the transposed tile of A: a warp writes 16 rows of A at two places of
// k, 4 · 132 = 528 floats apart, which is half of the banks.
constexpr int PAD = 4;
constexpr int A_LENGTH = BM + PAD;  // floats from one step of k to the next in a tile of A

// Four floats of a row of `length` floats, from `column` on, with zeros beyond the end of the row.
// ALIGNED: length is a multiple of 4, hence four floats are all inside or all outside, and can be
// loaded as one.
template <bool ALIGNED>
__device__ float4 load_four(const float* row, int column, int length)
{
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (ALIGNED) {
        if (column < length) {
            four = *reinterpret_cast<const float4*>(row + column);
        }
        return four;
    }
    if (column + 0 < length) four.x = row[column + 0];
    if (column + 1 < length) four.y = row[column + 1];
    if (column + 2 < length) four.z = row[column + 2];
    if (column + 3 < length) four.w = row[column + 3];
    return four;
}

// Stores four floats into a row of `length` floats, from `column` on, and nothing beyond its end.
template <bool ALIGNED>
__device__ void store_four(float* row, int column, int length, const float* four)
{
    if (ALIGNED) {
        if (column < length) {
            const float4 all = make_float4(four[0], four[1], four[2], four[3]);
            *reinterpret_cast<float4*>(row + column) = all;
        }
        return;
    }
    #pragma unroll
    for (int i = 0; i < V; ++i) {
        if (column + i < length) row[column + i] = four[i];
    }
}

// Four floats from shared memory in one load.
__device__ void read_four(float* to, const float* from)
{
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

// Adds to the thread's outputs what a pair of tiles contributes.
__device__ void multiply(float (&sum)[TM][TN], const float* a_tile, const float* b_tile,
                         int thread_row, int thread_column)
{
    #pragma unroll
    for (int k = 0; k < BK; ++k) {
        float a[TM];
        float b[TN];
        #pragma unroll
        for (int i = 0; i < TM; i += V) {
            read_four(a + i, a_tile + k * A_LENGTH + thread_row + i * LANES_M);
        }
        #pragma unroll
        for (int j = 0; j < TN; j += V) {
            read_four(b + j, b_tile + k * BN + thread_column + j * LANES_N);
        }
        #pragma unroll
        for (int i = 0; i < TM; ++i) {
            #pragma unroll
            for (int j = 0; j < TN; ++j) {
                sum[i][j] += a[i] * b[j];
            }
        }
    }
}

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
// ALIGNED: K and N are multiples of 4.
template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 2)
gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
     int M, int N, int K)
{
    __shared__ __align__(16) float a_tile[BK * A_LENGTH];  // BK steps of k × BM rows of A
    __shared__ __align__(16) float b_tile[BK * BN];        // BK steps of k × BN columns of B

    const int tiles_across = (N + BN - 1) / BN;
    const int block_row = blockIdx.x / tiles_across * BM;     // first row of C of this block
    const int block_column = blockIdx.x % tiles_across * BN;  // and its first column

    // Where this thread stands in its warp: lanes 2·i and 2·i + 1 in two rows of the same column,
    // the upper half of the warp two rows below the lower.
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int lane_row = lane % 2 + lane / 16 * 2;
    const int lane_column = lane / 2 % 8;

    // What it computes: rows thread_row … + 3 and every 16 below, columns thread_column … + 3 and
    // every 32 to the right, TM · TN outputs in all.
    const int thread_row = warp / WARPS_N * WM + lane_row * V;
    const int thread_column = warp % WARPS_N * WN + lane_column * V;

    // What it brings in: a float4 of the tile of A, two threads a row; and one of B's.
    const int a_row = threadIdx.x / (BK / V);
    const int a_column = threadIdx.x % (BK / V) * V;
    const int b_row = threadIdx.x / (BN / V);
    const int b_column = threadIdx.x % (BN / V) * V;

    float sum[TM][TN] = {};
    for (int k_start = 0; k_start < K; k_start += BK) {
        float4 a_four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        float4 b_four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        const int a_from = block_row + a_row;  // the row of A to load from, and that of B
        const int b_from = k_start + b_row;
        if (a_from < M) {
            a_four = load_four<ALIGNED>(A + size_t(a_from) * K, k_start + a_column, K);
        }
        if (b_from < K) {
            b_four = load_four<ALIGNED>(B + size_t(b_from) * N, block_column + b_column, N);
        }
        float* const a_to = a_tile + a_column * A_LENGTH + a_row;
        a_to[0 * A_LENGTH] = a_four.x;
        a_to[1 * A_LENGTH] = a_four.y;
        a_to[2 * A_LENGTH] = a_four.z;
        a_to[3 * A_LENGTH] = a_four.w;
        *reinterpret_cast<float4*>(b_tile + b_row * BN + b_column) = b_four;
        __syncthreads();  // both tiles are complete
        multiply(sum, a_tile, b_tile, thread_row, thread_column);
        __syncthreads();  // both tiles have been read
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = block_row + thread_row + i % V + i / V * V * LANES_M;
        if (row < M) {
            #pragma unroll
            for (int j = 0; j < TN; j += V) {
                const int column = block_column + thread_column + j * LANES_N;
                store_four<ALIGNED>(C + size_t(row) * N, column, N, &sum[i][j]);
            }
        }
    }
}
