// Eight blocks of 256 a multiprocessor are asked for: 32 registers a thread, and all 64 sums are spilled by ptxas.
//
// deserves: 03_register_tile_1d
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
constexpr int TM = 8;    // rows of C that a thread computes: 4 in the upper half, 4 in the lower
constexpr int TN = 8;    // columns of C that a thread computes: 4 in the left half, 4 in the right
constexpr int V = 4;     // floats in a float4

// The threads of a block form a grid of THREADS_M × THREADS_N, 16 × 16, over each quarter of its
// square of C.
constexpr int THREADS_M = BM / TM;
constexpr int THREADS_N = BN / TN;
constexpr int THREADS = THREADS_M * THREADS_N;
static_assert(BM * BK == V * THREADS && BK * BN == V * THREADS, "one float4 of each tile a thread");
static_assert(TM == 2 * V && TN == 2 * V, "a thread's rows and columns are two float4s");

// Floats added to each row of the transposed tile of A. A warp lays down 16 rows of A, at two
// places of k that are 4 rows of this tile apart. Unpadded these are 512 floats apart, the same
// bank; 4 · 132 = 528 is 16 banks away from it, so all 32 threads write to different banks. A
// multiple of 4 keeps the rows aligned for float4 reads.
constexpr int PAD = 4;

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

// Stores `four` into a row of `length` floats, from `column` on, and nothing beyond the row's end.
template <bool ALIGNED>
__device__ void store_four(float* row, int column, int length, float4 four)
{
    if (ALIGNED) {
        if (column < length) {
            *reinterpret_cast<float4*>(row + column) = four;
        }
        return;
    }
    if (column + 0 < length) row[column + 0] = four.x;
    if (column + 1 < length) row[column + 1] = four.y;
    if (column + 2 < length) row[column + 2] = four.z;
    if (column + 3 < length) row[column + 3] = four.w;
}

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
// ALIGNED: K and N are multiples of 4.
template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 8)
gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
     int M, int N, int K)
{
    __shared__ __align__(16) float a_tile[BK][BM + PAD];  // BK steps of k × BM rows of A
    __shared__ __align__(16) float b_tile[BK][BN];        // BK steps of k × BN columns of B

    const int tiles_across = (N + BN - 1) / BN;
    const int block_row = blockIdx.x / tiles_across * BM;     // first row of C of this block
    const int block_column = blockIdx.x % tiles_across * BN;  // and its first column

    // What this thread computes: the rows thread_row … + 3 and BM/2 below, the columns
    // thread_column … + 3 and BN/2 to the right. Threads that are neighbours in a row then read
    // neighbouring float4s of b_tile.
    const int thread_row = threadIdx.x / THREADS_N * V;
    const int thread_column = threadIdx.x % THREADS_N * V;

    // What this thread brings in: a float4 of the tile of A, two threads a row; and one of B's.
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
        a_tile[a_column + 0][a_row] = a_four.x;
        a_tile[a_column + 1][a_row] = a_four.y;
        a_tile[a_column + 2][a_row] = a_four.z;
        a_tile[a_column + 3][a_row] = a_four.w;
        *reinterpret_cast<float4*>(&b_tile[b_row][b_column]) = b_four;
        __syncthreads();  // both tiles are complete

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            const auto a_fours = reinterpret_cast<const float4*>(&a_tile[k][thread_row]);
            const auto b_fours = reinterpret_cast<const float4*>(&b_tile[k][thread_column]);
            const float4 upper = a_fours[0];
            const float4 lower = a_fours[BM / 2 / V];
            const float4 left = b_fours[0];
            const float4 right = b_fours[BN / 2 / V];
            const float a[TM] = {upper.x, upper.y, upper.z, upper.w,
                                 lower.x, lower.y, lower.z, lower.w};
            const float b[TN] = {left.x, left.y, left.z, left.w,
                                 right.x, right.y, right.z, right.w};
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) {
                    sum[i][j] += a[i] * b[j];
                }
            }
        }
        __syncthreads();  // both tiles have been read
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = block_row + thread_row + i % V + i / V * (BM / 2);
        if (row < M) {
            float* const c_row = C + size_t(row) * N;
            const int column = block_column + thread_column;
            const float4 left = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
            const float4 right = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
            store_four<ALIGNED>(c_row, column, N, left);
            store_four<ALIGNED>(c_row, column + BN / 2, N, right);
        }
    }
}
