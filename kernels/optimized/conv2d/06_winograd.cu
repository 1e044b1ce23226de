// Fewer multiplications. A tile of 2 × 2 neighbouring outputs of a 3 × 3 filter takes 36 products as
// the formula has it. Winograd's F(2×2, 3×3) takes 16: with a tile d of 4 × 4 inputs and a filter g,
//
//     y = Aᵀ [ (G g Gᵀ) ⊙ (Bᵀ d B) ] A
//
// where ⊙ multiplies element by element and the matrices hold little but 0, 1 and −1. Each of the 16
// elements is a number for every filter and channel here, for every channel and tile there, and the
// products are summed over channels: that is a matrix product, 16 of them, and the last transform
// waits until the sums are complete.
//
// There is a launch for every step: transform filters, transform tiles, multiply 16 pairs of
// matrices, transform the products back. The multiplication is the kernel of rung 05 with nothing
// left to compute about addresses.
//
// What it should buy: 16 multiply-adds where there were 36. What it costs: the transformed tiles are
// four times the bytes of x, the products four times those of y, and all of them go through memory,
// 1.6 GB at the main size. Errors grow too: a tile's transform adds and subtracts elements of x
// that an output's own sum does not hold.
//
// It is made for 3 × 3 filters and stride 1. All others are computed as in rung 00.
//
// Source: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks",
// arXiv:1509.09308, 2015.
//
// /// launch
// [[scratch]]
// name = "filters"
// dtype = "float32"
// shape = ["SIDE * SIDE", "cdiv(C, BC) * BC", "cdiv(K, BM) * BM"]
//
// [[scratch]]
// name = "tiles"
// dtype = "float32"
// shape = ["SIDE * SIDE", "cdiv(C, BC) * BC", "cdiv(N * cdiv(P, 2) * cdiv(Q, 2), BN) * BN"]
//
// [[scratch]]
// name = "products"
// dtype = "float32"
// shape = ["SIDE * SIDE", "cdiv(K, BM) * BM", "cdiv(N * cdiv(P, 2) * cdiv(Q, 2), BN) * BN"]
//
// [[launch]]
// kernel = "transform_filters"
// when = "R == 3 and S == 3 and stride == 1"
// args = ["w", "filters", "C", "K"]
// grid = ["cdiv(K, BM)", "cdiv(C, BC) * BC"]
// block = ["BM"]
//
// [[launch]]
// kernel = "transform_tiles"
// when = "R == 3 and S == 3 and stride == 1"
// args = ["x", "tiles", "N", "C", "H", "W", "pad"]
// grid = ["cdiv(N * cdiv(P, 2) * cdiv(Q, 2), BN)", "cdiv(C, BC) * BC"]
// block = ["BN"]
//
// [[launch]]
// kernel = "multiply"
// when = "R == 3 and S == 3 and stride == 1"
// args = ["filters", "tiles", "products", "cdiv(C, BC) * BC"]
// grid = ["cdiv(K, BM)", "cdiv(N * cdiv(P, 2) * cdiv(Q, 2), BN)", "SIDE * SIDE"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "transform_products"
// when = "R == 3 and S == 3 and stride == 1"
// args = ["products", "y", "N", "K", "P", "Q"]
// grid = ["cdiv(N * cdiv(P, 2) * cdiv(Q, 2), BN)", "K"]
// block = ["BN"]
//
// [[launch]]
// kernel = "direct"
// when = "R != 3 or S != 3 or stride != 1"
// grid = ["cdiv(P * Q, BN)", "K", "N"]
// block = ["BN"]
// ///

constexpr int OUT = 2;             // outputs of a tile, along each side
constexpr int TAPS = 3;            // taps of the filter, likewise
constexpr int SIDE = OUT + TAPS - 1;  // inputs of a tile, likewise: 4

// The transforms. winograd_matrices(2, 3) of lessons/conv2d/reference.py makes them: at the points 0, 1,
// −1 and infinity, polynomials (d) and (g) are evaluated, multiplied, and the product interpolated;
// a filter is the transpose of that.
__device__ constexpr float A_T[OUT][SIDE] = {{1, 1, 1, 0}, {0, 1, -1, 1}};
__device__ constexpr float G[SIDE][TAPS] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
__device__ constexpr float B_T[SIDE][SIDE] = {
    {1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}};

constexpr int BM = 128;  // filters that a block of multiply takes; scratch arrays are filled up to it
constexpr int BN = 128;  // tiles that a block of multiply takes; scratch arrays are filled up to it
constexpr int BC = 8;    // channels between two barriers; scratch arrays are filled up to it
constexpr int TM = 8;    // filters that a thread takes: 4 in the upper half, 4 in the lower
constexpr int TN = 8;    // tiles that a thread takes: 4 in the left half, 4 in the right
constexpr int V = 4;     // floats in a float4

// The threads of a block of multiply form a grid of THREADS_M × THREADS_N, 16 × 16, over each quarter
// of its products.
constexpr int THREADS_M = BM / TM;
constexpr int THREADS_N = BN / TN;
constexpr int THREADS = THREADS_M * THREADS_N;
static_assert(BM * BC == V * THREADS && BC * BN == V * THREADS, "one float4 of each tile a thread");

// to = matrix · from · matrixᵀ. All loops are unrolled, so that the matrix is known to the compiler:
// of a product with 1 only an addition is left, and of one with 0 nothing. Sums start at −0, the
// number that may be added to any other and leaves it as it is.
template <int ROWS, int COLUMNS>
__device__ void transform(const float (&matrix)[ROWS][COLUMNS],
                          const float (&from)[COLUMNS][COLUMNS], float (&to)[ROWS][ROWS])
{
    float half[ROWS][COLUMNS];  // matrix · from
    #pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        #pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            half[i][j] = -0.0f;
            #pragma unroll
            for (int k = 0; k < COLUMNS; ++k) {
                if (matrix[i][k] != 0.0f) half[i][j] += matrix[i][k] * from[k][j];
            }
        }
    }
    #pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        #pragma unroll
        for (int j = 0; j < ROWS; ++j) {
            to[i][j] = -0.0f;
            #pragma unroll
            for (int k = 0; k < COLUMNS; ++k) {
                if (matrix[j][k] != 0.0f) to[i][j] += half[i][k] * matrix[j][k];
            }
        }
    }
}

// filters[element][c][k] = (G g Gᵀ)[element] of g = w[k][c]; zero beyond the last channel or filter.
// w is K × C × 3 × 3, filters 16 × C × K, C and K filled up to multiples of BC and BM.
__global__ void transform_filters(const float* __restrict__ w, float* __restrict__ filters, int C, int K)
{
    const int k = blockIdx.x * BM + threadIdx.x;
    const int c = blockIdx.y;
    const bool inside = k < K && c < C;
    float g[TAPS][TAPS];
    #pragma unroll
    for (int r = 0; r < TAPS; ++r) {
        #pragma unroll
        for (int s = 0; s < TAPS; ++s) {
            g[r][s] = inside ? w[((size_t(k) * C + c) * TAPS + r) * TAPS + s] : 0.0f;
        }
    }
    float transformed[SIDE][SIDE];
    transform(G, g, transformed);
    const size_t plane = size_t(gridDim.y) * gridDim.x * BM;  // floats of one element
    #pragma unroll
    for (int i = 0; i < SIDE * SIDE; ++i) {
        filters[i * plane + size_t(c) * gridDim.x * BM + k] = transformed[i / SIDE][i % SIDE];
    }
}

// tiles[element][c][t] = (Bᵀ d B)[element] of the t-th tile d of channel c, the tiles of an image in
// rows and the images in order; zero beyond the last channel or tile. Elements of d outside of the
// image are zeros. x is N × C × H × W, tiles 16 × C × (tiles of all images), filled up like filters.
__global__ void transform_tiles(const float* __restrict__ x, float* __restrict__ tiles,
                                int N, int C, int H, int W, int pad)
{
    const int down = (H + 2 * pad - TAPS + OUT) / OUT;  // rows of tiles in an image
    const int across = (W + 2 * pad - TAPS + OUT) / OUT;
    const int t = blockIdx.x * BN + threadIdx.x;
    const int c = blockIdx.y;
    const int n = t / (down * across);
    const int top = t / across % down * OUT - pad;
    const int left = t % across * OUT - pad;
    const float* const channel = x + (size_t(n) * C + c) * H * W;
    float d[SIDE][SIDE];
    #pragma unroll
    for (int i = 0; i < SIDE; ++i) {
        #pragma unroll
        for (int j = 0; j < SIDE; ++j) {
            const int row = top + i;
            const int column = left + j;
            const bool inside = n < N && c < C && row >= 0 && row < H && column >= 0 && column < W;
            d[i][j] = inside ? channel[row * W + column] : 0.0f;
        }
    }
    float transformed[SIDE][SIDE];
    transform(B_T, d, transformed);
    const size_t plane = size_t(gridDim.y) * gridDim.x * BN;
    #pragma unroll
    for (int i = 0; i < SIDE * SIDE; ++i) {
        tiles[i * plane + size_t(c) * gridDim.x * BN + t] = transformed[i / SIDE][i % SIDE];
    }
}

// products[element][k][t] = Σ over c of filters[element][c][k] · tiles[element][c][t]. All arrays are
// filled up to whole tiles of this product, so nothing is asked about edges. C is filled up, too.
__global__ void __launch_bounds__(THREADS, 2)
multiply(const float* __restrict__ filters, const float* __restrict__ tiles,
         float* __restrict__ products, int C)
{
    __shared__ __align__(16) float a_tile[2][BC][BM];  // BC channels × BM filters
    __shared__ __align__(16) float b_tile[2][BC][BN];  // BC channels × BN tiles

    const int K = gridDim.x * BM;
    const int T = gridDim.y * BN;
    const int element = blockIdx.z;

    // What this thread brings in: a float4 of either tile.
    const int channel = threadIdx.x / (BM / V);
    const int four = threadIdx.x % (BM / V) * V;
    const float* a_source = filters + (size_t(element) * C + channel) * K + blockIdx.x * BM + four;
    const float* b_source = tiles + (size_t(element) * C + channel) * T + blockIdx.y * BN + four;
    float4 a_next = *reinterpret_cast<const float4*>(a_source);
    float4 b_next = *reinterpret_cast<const float4*>(b_source);

    const int thread_k = threadIdx.x / THREADS_N * V;
    const int thread_t = threadIdx.x % THREADS_N * V;
    float sum[TM][TN] = {};
    for (int first = 0, buffer = 0; first < C; first += BC, buffer ^= 1) {
        *reinterpret_cast<float4*>(&a_tile[buffer][channel][four]) = a_next;
        *reinterpret_cast<float4*>(&b_tile[buffer][channel][four]) = b_next;
        // The tiles are complete. Those of the step before last have been read: everybody has
        // come here since.
        __syncthreads();
        if (first + BC < C) {
            a_source += size_t(BC) * K;
            b_source += size_t(BC) * T;
            a_next = *reinterpret_cast<const float4*>(a_source);
            b_next = *reinterpret_cast<const float4*>(b_source);
        }
        #pragma unroll
        for (int c = 0; c < BC; ++c) {
            const auto a_fours = reinterpret_cast<const float4*>(&a_tile[buffer][c][thread_k]);
            const auto b_fours = reinterpret_cast<const float4*>(&b_tile[buffer][c][thread_t]);
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
    }

    // __stcs stores with the hint that nobody reads it soon: the products are larger than the cache.
    float* const corner =
        products + (size_t(element) * K + blockIdx.x * BM + thread_k) * T + blockIdx.y * BN + thread_t;
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const auto row = reinterpret_cast<float4*>(corner + (i % V + i / V * (BM / 2)) * size_t(T));
        __stcs(row, make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]));
        __stcs(row + BN / 2 / V, make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]));
    }
}

// y = Aᵀ m A of the 16 products m of each filter and tile. products is 16 × K × T, filled up, and y is
// N × K × P × Q; outputs of a tile beyond the last row or column are left out.
__global__ void transform_products(const float* __restrict__ products, float* __restrict__ y,
                                   int N, int K, int P, int Q)
{
    const int down = (P + OUT - 1) / OUT;
    const int across = (Q + OUT - 1) / OUT;
    const int t = blockIdx.x * BN + threadIdx.x;
    const int k = blockIdx.y;
    const int n = t / (down * across);
    if (n >= N) {
        return;
    }
    const int K_filled = (K + BM - 1) / BM * BM;
    const size_t plane = size_t(K_filled) * gridDim.x * BN;
    float m[SIDE][SIDE];
    #pragma unroll
    for (int i = 0; i < SIDE * SIDE; ++i) {
        m[i / SIDE][i % SIDE] = products[i * plane + size_t(k) * gridDim.x * BN + t];
    }
    float outputs[OUT][OUT];
    transform(A_T, m, outputs);
    const int p = t / across % down * OUT;
    const int q = t % across * OUT;
    float* const target = y + ((size_t(n) * K + k) * P + p) * Q + q;
    #pragma unroll
    for (int i = 0; i < OUT; ++i) {
        if (p + i >= P) {
            continue;
        }
        if (Q % 2 == 0) {  // pairs start at even places, and none reaches beyond the row
            *reinterpret_cast<float2*>(target + i * Q) = make_float2(outputs[i][0], outputs[i][1]);
            continue;
        }
        #pragma unroll
        for (int j = 0; j < OUT; ++j) {
            if (q + j < Q) target[i * Q + j] = outputs[i][j];
        }
    }
}

// y = x ∗ w for any filter and stride: rung 00, one thread for each element of y.
__global__ void direct(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                       int N, int C, int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * BN + threadIdx.x;
    const int k = blockIdx.y;
    const int n = blockIdx.z;
    if (pixel >= P * Q) {
        return;
    }
    const int top = pixel / Q * stride - pad;
    const int left = pixel % Q * stride - pad;
    const float* const image = x + size_t(n) * C * H * W;
    const float* const filter = w + size_t(k) * C * R * S;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) {
            for (int s = 0; s < S; ++s) {
                const int row = top + r;
                const int column = left + s;
                if (row >= 0 && row < H && column >= 0 && column < W) {
                    sum += image[(c * H + row) * W + column] * filter[(c * R + r) * S + s];
                }
            }
        }
    }
    y[(size_t(n) * K + k) * P * Q + pixel] = sum;
}
