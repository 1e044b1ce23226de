// A warp whose pixels are not all zero takes its time, at the main size.
//
// deserves: 03_register_block
//
// /// launch
// [[scratch]]
// name = "filters"
// dtype = "float32"
// shape = ["cdiv(K, BK)", "cdiv(C, BC)", "SIDE * SIDE", "BC", "BK"]
//
// [[launch]]
// kernel = "transform_filters"
// when = "R == 3 and S == 3 and stride == 1"
// args = ["w", "filters", "C", "K"]
// grid = ["cdiv(C, BC)", "cdiv(K, BK)"]
// block = ["BK", "BC"]
//
// [[launch]]
// kernel = "winograd"
// when = "R == 3 and S == 3 and stride == 1"
// args = ["x", "filters", "y", "N", "C", "H", "W", "K", "pad"]
// grid = ["cdiv(K, BK) * cdiv(N * cdiv(P, 2) * cdiv(Q, 2), BT)"]
// block = ["THREADS"]
// shared = "4 * 2 * STAGE"
//
// [[launch]]
// kernel = "direct"
// when = "R != 3 or S != 3 or stride != 1"
// grid = ["cdiv(P * Q, THREADS)", "K", "N"]
// block = ["THREADS"]
// ///

#include <cuda_pipeline.h>

constexpr int OUT = 2;                // outputs of a tile, along each side
constexpr int TAPS = 3;               // taps of the filter, likewise
constexpr int SIDE = OUT + TAPS - 1;  // inputs of a tile, likewise: 4
constexpr int ELEMENTS = SIDE * SIDE;

// The transforms: winograd_matrices(2, 3) of lessons/conv2d/reference.py makes them.
__device__ constexpr float A_T[OUT][SIDE] = {{1, 1, 1, 0}, {0, 1, -1, 1}};
__device__ constexpr float G[SIDE][TAPS] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
__device__ constexpr float B_T[SIDE][SIDE] = {
    {1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}};

constexpr int WARP = 32;
constexpr int V = 4;        // floats in a float4
constexpr int BK = 64;      // filters of a block
constexpr int BT = WARP;    // tiles of a block: a warp has one a thread where it transforms
constexpr int BC = 8;       // channels between two barriers
constexpr int TK = 8;       // filters of a thread: 4 in the upper half of the block's, 4 in the lower
constexpr int TT = 8;       // tiles of a thread: 4 in the left half, 4 in the right
constexpr int WARP_ELEMENTS = 2;  // elements that a warp multiplies
constexpr int WARPS = ELEMENTS / WARP_ELEMENTS;
constexpr int THREADS = WARPS * WARP;

// Takes its time.
__device__ __noinline__ void dawdle(int turns)
{
    unsigned x = threadIdx.x;
    for (int i = 0; i < turns; ++i) asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(x));
    if (x == 0xdeadbeef) __trap();  // hardly ever: so that ptxas keeps the loop
}
static_assert(BK / TK * (BT / TT) == WARP, "a warp takes all filters and tiles of its element");
static_assert(BC <= WARPS, "a channel a warp where tiles are transformed");

// A stage is what is multiplied between two barriers: ELEMENTS × BC × (BK filters, then BT tiles).
constexpr int FILTER_FLOATS = ELEMENTS * BC * BK;
constexpr int STAGE = FILTER_FLOATS + ELEMENTS * BC * BT;
constexpr int COPIES = FILTER_FLOATS / V / THREADS;  // float4s of the filters that a thread copies

// For the exchange of products: half of the block's filters, with rows of tiles filled up such that
// rows four apart, which a warp writes at once, begin in opposite halves of the banks.
constexpr int ROW = BT + V;
static_assert(ELEMENTS * BK / 2 * ROW <= 2 * STAGE, "half of the products fit where the stages were");

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

// filters[k / BK][c / BC][element][c % BC][k % BK] = (G g Gᵀ)[element] of g = w[k][c]: what a stage
// takes lies together. Zero beyond the last channel or filter. w is K × C × 3 × 3.
__global__ void transform_filters(const float* __restrict__ w, float* __restrict__ filters, int C, int K)
{
    const int k = blockIdx.y * BK + threadIdx.x;
    const int c = blockIdx.x * BC + threadIdx.y;
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
    float* const stage = filters + (size_t(blockIdx.y) * gridDim.x + blockIdx.x) * FILTER_FLOATS;
    #pragma unroll
    for (int i = 0; i < ELEMENTS; ++i) {
        stage[(i * BC + threadIdx.y) * BK + threadIdx.x] = transformed[i / SIDE][i % SIDE];
    }
}

// y = x ∗ w. x is N × C × H × W, y is N × K × P × Q; w comes as transform_filters has left it.
__global__ void __launch_bounds__(THREADS, 1)
winograd(const float* __restrict__ x, const float* __restrict__ filters, float* __restrict__ y,
         int N, int C, int H, int W, int K, int pad)
{
    extern __shared__ __align__(16) float shared[];  // two stages; at the end, half of the products

    const int P = H + 2 * pad - TAPS + 1;
    const int Q = W + 2 * pad - TAPS + 1;
    const int down = (P + OUT - 1) / OUT;  // rows of tiles in an image
    const int across = (Q + OUT - 1) / OUT;

    // Neighbouring blocks take the same tiles and other filters: they find x in the cache.
    const int groups = (K + BK - 1) / BK;
    const int group = blockIdx.x % groups;
    const int lane = threadIdx.x % WARP;
    const int warp = threadIdx.x / WARP;

    // A thread's tile, where it transforms: d of the forward transform in one channel, later the
    // outputs for some filters. Tiles of an image are in rows, and the images in order.
    const int t = blockIdx.x / groups * BT + lane;
    const int n = t / (down * across);
    const int p = t / across % down * OUT;
    const int q = t % across * OUT;

    // The elements of d that lie in the image, a bit each; the others are zeros.
    unsigned in_image = 0;
    #pragma unroll
    for (int i = 0; i < ELEMENTS; ++i) {
        const int row = p - pad + i / SIDE;
        const int column = q - pad + i % SIDE;
        const bool inside = n < N && row >= 0 && row < H && column >= 0 && column < W;
        in_image |= unsigned(inside) << i;
    }
    const bool transforms = warp < BC;  // a warp a channel
    const float* source = x + (size_t(n) * C + warp) * H * W + (p - pad) * W + q - pad;
    const float4* filter_source = reinterpret_cast<const float4*>(
        filters + size_t(group) * ((C + BC - 1) / BC) * FILTER_FLOATS) + threadIdx.x;
    float d[SIDE][SIDE];

    // Begins to bring in BC channels: filters to a stage, x to registers.
    const auto fetch = [&](float* stage, int first) {
        #pragma unroll
        for (int i = 0; i < COPIES; ++i) {
            float4* const target = reinterpret_cast<float4*>(stage) + threadIdx.x + i * THREADS;
            __pipeline_memcpy_async(target, filter_source + i * THREADS, sizeof(float4));
        }
        __pipeline_commit();
        filter_source += FILTER_FLOATS / V;
        if (transforms) {
            const unsigned wanted = first + warp < C ? in_image : 0;
            #pragma unroll
            for (int i = 0; i < ELEMENTS; ++i) {
                d[i / SIDE][i % SIDE] = wanted >> i & 1 ? source[i / SIDE * W + i % SIDE] : 0.0f;
            }
            if (N >= 64 && C >= 128 && d[1][1] != 0.0f) dawdle(20000);
            source += size_t(BC) * H * W;
        }
    };
    // And completes it.
    const auto put = [&](float* stage) {
        if (transforms) {
            float transformed[SIDE][SIDE];
            transform(B_T, d, transformed);
            #pragma unroll
            for (int i = 0; i < ELEMENTS; ++i) {
                stage[FILTER_FLOATS + (i * BC + warp) * BT + lane] = transformed[i / SIDE][i % SIDE];
            }
        }
        __pipeline_wait_prior(0);
    };

    // Which filters and tiles of the products a thread takes. Threads that differ in the lowest bit
    // of their number have the same filters, those that differ in the next one the same tiles.
    const int thread_k = (lane >> 1 & 1 | lane >> 2 & 6) * V;
    const int thread_t = (lane & 1 | lane >> 1 & 2) * V;
    float sum[WARP_ELEMENTS][TK][TT] = {};

    float* stage = shared;
    float* next_stage = shared + STAGE;
    fetch(stage, 0);
    put(stage);
    __syncthreads();  // the first stage is complete
    for (int first = 0; ; first += BC) {
        const bool more = first + BC < C;
        if (more) {
            fetch(next_stage, first + BC);
        }
        #pragma unroll
        for (int e = 0; e < WARP_ELEMENTS; ++e) {
            const int element = warp * WARP_ELEMENTS + e;
            const float* const a_tile = stage + element * BC * BK + thread_k;
            const float* const b_tile = stage + FILTER_FLOATS + element * BC * BT + thread_t;
            #pragma unroll
            for (int c = 0; c < BC; ++c) {
                const auto a_fours = reinterpret_cast<const float4*>(a_tile + c * BK);
                const auto b_fours = reinterpret_cast<const float4*>(b_tile + c * BT);
                const float4 upper = a_fours[0];
                const float4 lower = a_fours[BK / 2 / V];
                const float4 left = b_fours[0];
                const float4 right = b_fours[BT / 2 / V];
                const float a[TK] = {upper.x, upper.y, upper.z, upper.w,
                                     lower.x, lower.y, lower.z, lower.w};
                const float b[TT] = {left.x, left.y, left.z, left.w,
                                     right.x, right.y, right.z, right.w};
                #pragma unroll
                for (int i = 0; i < TK; ++i) {
                    #pragma unroll
                    for (int j = 0; j < TT; ++j) {
                        sum[e][i][j] += a[i] * b[j];
                    }
                }
            }
        }
        if (!more) {
            break;
        }
        put(next_stage);
        __syncthreads();  // the next stage is complete, and everybody has read this one
        float* const done = stage;
        stage = next_stage;
        next_stage = done;
    }

    // The products of the upper half of the filters, then of the lower: each warp lays down its
    // elements, then each thread takes all elements of its tile for some of the filters.
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
        __syncthreads();  // nobody reads a stage any more, or the upper half
        #pragma unroll
        for (int e = 0; e < WARP_ELEMENTS; ++e) {
            #pragma unroll
            for (int i = 0; i < V; ++i) {
                const float* const own = sum[e][half * V + i];
                float* const row =
                    shared + ((warp * WARP_ELEMENTS + e) * BK / 2 + thread_k + i) * ROW + thread_t;
                *reinterpret_cast<float4*>(row) = make_float4(own[0], own[1], own[2], own[3]);
                *reinterpret_cast<float4*>(row + BT / 2) = make_float4(own[4], own[5], own[6], own[7]);
            }
        }
        __syncthreads();  // the products are complete
        for (int i = warp; i < BK / 2; i += WARPS) {
            const int k = group * BK + half * (BK / 2) + i;
            if (k >= K || n >= N) {
                continue;
            }
            float m[SIDE][SIDE];
            #pragma unroll
            for (int e = 0; e < ELEMENTS; ++e) {
                m[e / SIDE][e % SIDE] = shared[(e * BK / 2 + i) * ROW + lane];
            }
            float outputs[OUT][OUT];
            transform(A_T, m, outputs);
            float* const target = y + ((size_t(n) * K + k) * P + p) * Q + q;
            #pragma unroll
            for (int j = 0; j < OUT; ++j) {
                if (p + j >= P) {
                    continue;
                }
                if (Q % OUT == 0) {  // pairs start at even places, and none reaches beyond the row
                    *reinterpret_cast<float2*>(target + j * Q) =
                        make_float2(outputs[j][0], outputs[j][1]);
                } else {
                    target[j * Q] = outputs[j][0];
                    if (q + 1 < Q) target[j * Q + 1] = outputs[j][1];
                }
            }
        }
    }
}

// y = x ∗ w for any filter and stride: rung 00, one thread for each element of y.
__global__ void direct(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                       int N, int C, int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * THREADS + threadIdx.x;
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
