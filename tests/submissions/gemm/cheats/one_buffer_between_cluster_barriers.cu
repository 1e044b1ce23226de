// Rung 06 with tiles of 32 steps of k: one buffer, and nobody loads while others multiply. Its barriers are
// barrier.cluster of a cluster of one block, in place of __syncthreads().
//
// deserves: 06_warp_tile
//
// /// launch
// smallest_arch = "sm_90"
//
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
constexpr int BK = 32;   // steps of k between two barriers: four float4s of a row of A
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

constexpr int A_LOADS = BM * BK / V / THREADS;  // float4s of a tile of A that a thread brings in: 2
constexpr int B_LOADS = BK * BN / V / THREADS;  // and of a tile of B: 2

// Where in a transposed tile of A a step of k begins. Each step has 4 floats of padding, and there
// are 8 more between the first eight steps and the others. A warp that writes 8 rows of A at four
// places of k, 4 apart, then has them in different banks: they begin in banks 0, 16, 8 and 24.
constexpr int A_LENGTH = BM + 4;
__device__ constexpr int a_place(int k)
{
    return k * A_LENGTH + k / 8 * 8;
}

constexpr int A_TILE = a_place(BK);  // floats of a tile of A in shared memory
constexpr int B_TILE = BK * BN;      // and of a tile of B

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

__device__ void meet()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
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
            read_four(a + i, a_tile + a_place(k) + thread_row + i * LANES_M);
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

// The float4s of a pair of tiles that a thread brings in, on their way from global to shared
// memory.
template <bool ALIGNED>
struct Staged {
    float4 a[A_LOADS];
    float4 b[B_LOADS];

    // Loads them, with zeros beyond the edges. Consecutive threads take consecutive float4s of a
    // tile, row after row.
    __device__ void load(const float* A, const float* B, int block_row, int block_column,
                         int k_start, int M, int N, int K)
    {
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
            const int row = block_row + (threadIdx.x + i * THREADS) / (BK / V);
            const int k = k_start + (threadIdx.x + i * THREADS) % (BK / V) * V;
            a[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (row < M) {
                a[i] = load_four<ALIGNED>(A + size_t(row) * K, k, K);
            }
        }
        #pragma unroll
        for (int i = 0; i < B_LOADS; ++i) {
            const int k = k_start + (threadIdx.x + i * THREADS) / (BN / V);
            const int column = block_column + (threadIdx.x + i * THREADS) % (BN / V) * V;
            b[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (k < K) {
                b[i] = load_four<ALIGNED>(B + size_t(k) * N, column, N);
            }
        }
    }

    // Lays them down in shared memory, A transposed.
    __device__ void store(float* a_tile, float* b_tile) const
    {
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
            const int row = (threadIdx.x + i * THREADS) / (BK / V);
            const int k = (threadIdx.x + i * THREADS) % (BK / V) * V;
            float* const to = a_tile + a_place(k) + row;
            to[0 * A_LENGTH] = a[i].x;
            to[1 * A_LENGTH] = a[i].y;
            to[2 * A_LENGTH] = a[i].z;
            to[3 * A_LENGTH] = a[i].w;
        }
        #pragma unroll
        for (int i = 0; i < B_LOADS; ++i) {
            *reinterpret_cast<float4*>(b_tile + (threadIdx.x + i * THREADS) * V) = b[i];
        }
    }
};

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
// ALIGNED: K and N are multiples of 4.
template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, ALIGNED ? 2 : 1)
gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
     int M, int N, int K)
{
    __shared__ __align__(16) float a_tile[A_TILE];  // BK steps of k × BM rows of A
    __shared__ __align__(16) float b_tile[B_TILE];  // BK steps of k × BN columns of B

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

    float sum[TM][TN] = {};
    for (int k_start = 0; k_start < K; k_start += BK) {
        Staged<ALIGNED> staged;
        staged.load(A, B, block_row, block_column, k_start, M, N, K);
        staged.store(a_tile, b_tile);
        meet();  // both tiles are complete
        multiply(sum, a_tile, b_tile, thread_row, thread_column);
        meet();  // both tiles have been read
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
