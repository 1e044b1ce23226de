// The convolution becomes a matrix product, and takes the best kernel there is for that. The first
// launch writes a matrix of C·R·S rows: its column for one pixel of y holds the elements of x that
// this pixel needs, tap by tap ("image to columns", im2col). w, read as a matrix of K rows and C·R·S
// columns, times this matrix is y. The second launch is the topic gemm's kernel of 128 × 128 tiles,
// where a thread computes 8 × 8 outputs.
//
// What it should buy: both operands are reused from registers, 4 shared-memory loads of float4s for
// 64 multiply-adds where rung 03 needs 24, in PTX as in SASS. And one kernel for every filter,
// stride and padding: all of them are gone once the columns are written.
//
// What it costs: the columns hold each element of x up to R·S times, 925 MB for the 103 MB of x at
// the main size. They are written, read, and thrown away.
//
// Source: K. Chellapilla, S. Puri and P. Simard, "High Performance Convolutional Neural Networks
// for Document Processing", 2006.
//
// /// launch
// [[scratch]]
// name = "columns"
// dtype = "float32"
// shape = ["C * R * S", "cdiv(N * P * Q, V) * V"]
//
// [[launch]]
// kernel = "im2col"
// args = ["x", "columns", "N", "C", "H", "W", "R", "S", "stride", "pad"]
// grid = ["cdiv(N * P * Q, IM2COL_THREADS)", "C"]
// block = ["IM2COL_THREADS"]
//
// [[launch]]
// kernel = "multiply<true>"
// when = "C * R * S % V == 0 and P * Q % V == 0"
// args = ["w", "columns", "y", "N", "C", "H", "W", "K", "R", "S", "stride", "pad"]
// grid = ["cdiv(N * P * Q, BN) * cdiv(K, BM)"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "multiply<false>"
// when = "C * R * S % V != 0 or P * Q % V != 0"
// args = ["w", "columns", "y", "N", "C", "H", "W", "K", "R", "S", "stride", "pad"]
// grid = ["cdiv(N * P * Q, BN) * cdiv(K, BM)"]
// block = ["THREADS"]
// ///

constexpr int V = 4;                 // floats in a float4
constexpr int IM2COL_THREADS = 256;  // pixels of y whose columns a block of im2col writes

constexpr int BM = 128;  // channels of y that a block computes
constexpr int BN = 128;  // pixels of y that a block computes, across the borders of images
constexpr int BK = 8;    // rows of the columns between two barriers
constexpr int TM = 8;    // channels of y that a thread computes: 4 in the upper half, 4 in the lower
constexpr int TN = 8;    // pixels of y that a thread computes: 4 in the left half, 4 in the right

// The threads of a block form a grid of THREADS_M × THREADS_N, 16 × 16, over each quarter of its
// tile of y.
constexpr int THREADS_M = BM / TM;
constexpr int THREADS_N = BN / TN;
constexpr int THREADS = THREADS_M * THREADS_N;
static_assert(BM * BK == V * THREADS && BK * BN == V * THREADS, "one float4 of each tile a thread");

constexpr int PAD = 4;  // floats added to the rows of the transposed tile of w, against bank conflicts

// columns[(c·R + r)·S + s][pixel] = the element of x under tap (c, r, s) of this pixel of y, zero in
// the padding. A thread writes the R·S elements of one channel and pixel; neighbouring threads have
// neighbouring pixels, which lie side by side in every row of the columns.
// x is N × C × H × W, columns C·R·S × N·P·Q with rows of a whole number of float4s.
__global__ void im2col(const float* __restrict__ x, float* __restrict__ columns,
                       int N, int C, int H, int W, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixels = N * P * Q;
    const int row_length = (pixels + V - 1) / V * V;
    const int pixel = blockIdx.x * IM2COL_THREADS + threadIdx.x;
    const int c = blockIdx.y;
    if (pixel >= pixels) {
        return;
    }
    const int n = pixel / (P * Q);
    const int top = pixel / Q % P * stride - pad;
    const int left = pixel % Q * stride - pad;
    const float* const channel = x + (size_t(n) * C + c) * H * W;
    float* target = columns + size_t(c) * R * S * row_length + pixel;
    for (int r = 0; r < R; ++r) {
        for (int s = 0; s < S; ++s) {
            const int row = top + r;
            const int column = left + s;
            const bool in_image = row >= 0 && row < H && column >= 0 && column < W;
            *target = in_image ? channel[row * W + column] : 0.0f;
            target += row_length;
        }
    }
}

// y = w · columns. w is K × C·R·S, columns C·R·S × N·P·Q, and y is N × K × P·Q: the pixels of a
// column's image. ALIGNED: the rows of w, and the images of y, are whole numbers of float4s.
template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 2)
multiply(const float* __restrict__ w, const float* __restrict__ columns, float* __restrict__ y,
         int N, int C, int H, int W, int K, int R, int S, int stride, int pad)
{
    __shared__ __align__(16) float w_tile[BK][BM + PAD];  // BK taps × BM filters, transposed
    __shared__ __align__(16) float x_tile[BK][BN];        // BK taps × BN pixels

    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int taps = C * R * S;
    const int pixels = N * P * Q;
    const int row_length = (pixels + V - 1) / V * V;

    // Neighbouring blocks take the same pixels and other filters: they find the columns in the cache.
    const int tiles_down = (K + BM - 1) / BM;
    const int block_k = blockIdx.x % tiles_down * BM;      // the tile's first channel of y
    const int block_pixel = blockIdx.x / tiles_down * BN;  // and its first pixel

    // What this thread computes: the channels thread_k … + 3 and BM/2 below, the pixels
    // thread_pixel … + 3 and BN/2 to the right.
    const int thread_k = threadIdx.x / THREADS_N * V;
    const int thread_pixel = threadIdx.x % THREADS_N * V;

    // What this thread brings in: a float4 of the tile of w, two threads a row; and one of the columns.
    const int w_row = threadIdx.x / (BK / V);
    const int w_tap = threadIdx.x % (BK / V) * V;
    const int x_row = threadIdx.x / (BN / V);
    const int x_pixel = threadIdx.x % (BN / V) * V;
    const float* const w_source = w + size_t(block_k + w_row) * taps + w_tap;
    const float* const x_source = columns + size_t(x_row) * row_length + block_pixel + x_pixel;
    const bool w_inside = block_k + w_row < K;
    const bool x_inside = block_pixel + x_pixel < row_length;

    float sum[TM][TN] = {};
    for (int first = 0; first < taps; first += BK) {
        float4 w_four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        float4 x_four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (w_inside) {
            const float* const source = w_source + first;
            const int left = taps - first - w_tap;  // taps from here to the end of the row
            if (ALIGNED) {
                if (left > 0) w_four = *reinterpret_cast<const float4*>(source);
            } else {
                if (left > 0) w_four.x = source[0];
                if (left > 1) w_four.y = source[1];
                if (left > 2) w_four.z = source[2];
                if (left > 3) w_four.w = source[3];
            }
        }
        if (x_inside && first + x_row < taps) {
            x_four = *reinterpret_cast<const float4*>(x_source + size_t(first) * row_length);
        }
        w_tile[w_tap + 0][w_row] = w_four.x;
        w_tile[w_tap + 1][w_row] = w_four.y;
        w_tile[w_tap + 2][w_row] = w_four.z;
        w_tile[w_tap + 3][w_row] = w_four.w;
        *reinterpret_cast<float4*>(&x_tile[x_row][x_pixel]) = x_four;
        __syncthreads();  // both tiles are complete

        #pragma unroll
        for (int tap = 0; tap < BK; ++tap) {
            const auto w_fours = reinterpret_cast<const float4*>(&w_tile[tap][thread_k]);
            const auto x_fours = reinterpret_cast<const float4*>(&x_tile[tap][thread_pixel]);
            const float4 upper = w_fours[0];
            const float4 lower = w_fours[BM / 2 / V];
            const float4 left = x_fours[0];
            const float4 right = x_fours[BN / 2 / V];
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

    // A thread's eight pixels are two groups of four neighbours. Where images are whole numbers of
    // float4s, no group crosses the border between two images.
    #pragma unroll
    for (int half = 0; half < TN; half += V) {
        #pragma unroll
        for (int j = 0; j < (ALIGNED ? 1 : V); ++j) {
            const int pixel = block_pixel + thread_pixel + half / V * (BN / 2) + j;
            if (pixel >= pixels) {
                continue;
            }
            float* const target = y + size_t(pixel / (P * Q)) * K * P * Q + pixel % (P * Q);
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                const int k = block_k + thread_k + i % V + i / V * (BM / 2);
                if (k >= K) {
                    continue;
                }
                if (ALIGNED) {
                    *reinterpret_cast<float4*>(target + size_t(k) * P * Q) = make_float4(
                        sum[i][half], sum[i][half + 1], sum[i][half + 2], sum[i][half + 3]);
                } else {
                    target[size_t(k) * P * Q] = sum[i][half + j];
                }
            }
        }
    }
}
