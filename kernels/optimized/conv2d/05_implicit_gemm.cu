// The same product without the columns. What rung 04 reads of them is an element of x, at a place
// that can be computed; so the tile of columns is put together in shared memory, from x itself, and
// never exists anywhere else. The product's inner dimension is walked in an order that makes its
// places easy: 16 channels at one tap (r, s), then the same 16 channels at the next tap. A thread
// brings in 8 channels of one pixel. Whether the tap lies in the image, and where, is worked out once
// for all of them; from channel to channel it is a step of H·W elements.
//
// A first, small launch writes w in just that order, tap by channel by filter, filled up with zeros
// to whole tiles. The loads of w need no guards then, and nothing has to be transposed on the way.
//
// Two more things that every fast product does: while a block computes with one pair of tiles, the
// next one is on its way to registers, and goes to a second pair of tiles that nobody reads yet. And
// a warp computes 64 × 32 outputs that lie together, with its threads laid out for 128-bit loads from
// shared memory: they take half of the time where pairs of neighbouring threads want the same
// float4, or pairs of every other thread.
//
// What it should buy: the columns cost R·S times the bytes of x in writing, and as many in reading.
// Here x is read from DRAM about once: 16 channels of a tile's pixels, and of those one tap further,
// are nearly the same bytes, and the cache has them.
//
// Source: S. Chetlur and others, "cuDNN: Efficient Primitives for Deep Learning", arXiv:1410.0759,
// 2014.
//
// /// launch
// [[scratch]]
// name = "filters"
// dtype = "float32"
// shape = ["cdiv(C, BC)", "R * S", "BC", "cdiv(K, BM) * BM"]
//
// [[launch]]
// kernel = "arrange"
// args = ["w", "filters", "C", "K", "R", "S"]
// grid = ["cdiv(K, BM) * BM // WN", "cdiv(C, BC)"]
// block = ["WN", "BC"]
//
// [[launch]]
// kernel = "conv2d"
// args = ["x", "filters", "y", "N", "C", "H", "W", "K", "R", "S", "stride", "pad"]
// grid = ["cdiv(N * P * Q, BN) * cdiv(K, BM)"]
// block = ["THREADS"]
// ///

constexpr int BM = 128;  // channels of y that a block computes
constexpr int BN = 128;  // pixels of y that a block computes, across the borders of images
constexpr int BC = 16;   // channels of x between two barriers, all at the same tap
constexpr int WM = 64;   // channels of y that a warp computes
constexpr int WN = 32;   // pixels of y that a warp computes
constexpr int TM = 8;    // channels of y that a thread computes: 4 in the warp's upper half, 4 in the lower
constexpr int TN = 8;    // pixels of y that a thread computes: 4 in the warp's left half, 4 in the right
constexpr int V = 4;     // floats in a float4

constexpr int WARP = 32;
constexpr int THREADS = (BM / WM) * (BN / WN) * WARP;
constexpr int X_LOADS = BC * BN / THREADS;      // channels of its pixel that a thread brings in: 8
constexpr int W_LOADS = BC * BM / V / THREADS;  // float4s of the tile of w that a thread brings in: 2
constexpr int W_STEP = BC / W_LOADS;            // channels from one of them to the next
static_assert(WM / TM * (WN / TN) == WARP, "the outputs of a warp are those of its threads");
static_assert(THREADS % BN == 0, "one pixel a thread");

// filters[chunk][r·S + s][c][k] = w[k][chunk·BC + c][r][s], zero beyond the last channel or filter.
// w is K × C × R × S.
__global__ void arrange(const float* __restrict__ w, float* __restrict__ filters,
                        int C, int K, int R, int S)
{
    const int filters_padded = gridDim.x * blockDim.x;
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    const int c = blockIdx.y * BC + threadIdx.y;
    const bool inside = k < K && c < C;
    const float* const source = w + (size_t(k) * C + c) * R * S;
    float* target = filters + (size_t(blockIdx.y) * R * S * BC + threadIdx.y) * filters_padded + k;
    for (int tap = 0; tap < R * S; ++tap) {
        *target = inside ? source[tap] : 0.0f;
        target += BC * filters_padded;
    }
}

// y = x ∗ w. x is N × C × H × W, y is N × K × P × Q; w comes as `arrange` has left it.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
conv2d(const float* __restrict__ x, const float* __restrict__ filters, float* __restrict__ y,
       int N, int C, int H, int W, int K, int R, int S, int stride, int pad)
{
    __shared__ __align__(16) float w_tile[2][BC][BM];  // BC channels × BM filters, at one tap
    __shared__ __align__(16) float x_tile[2][BC][BN];  // BC channels × BN pixels, at the same tap

    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixels = N * P * Q;

    // Neighbouring blocks take the same pixels and other filters: they find x in the cache.
    const int tiles_down = (K + BM - 1) / BM;
    const int block_k = blockIdx.x % tiles_down * BM;      // the tile's first channel of y
    const int block_pixel = blockIdx.x / tiles_down * BN;  // and its first pixel

    // What this thread computes: the channels thread_k … + 3 and WM/2 below, the pixels
    // thread_pixel … + 3 and WN/2 to the right. The 8 × 4 threads of a warp are numbered so that
    // those that differ in the lowest bit share channels, and in the next one pixels.
    const int warp = threadIdx.x / WARP;
    const int lane = threadIdx.x % WARP;
    const int thread_k = warp / (BN / WN) * WM + ((lane >> 1 & 1) | (lane >> 2 & 6)) * V;
    const int thread_pixel = warp % (BN / WN) * WN + ((lane & 1) | (lane >> 1 & 2)) * V;

    // What this thread brings in of x: X_LOADS channels of one pixel. `source` is the element under
    // the filter's first tap, which may lie outside of the image; it is looked at only where it
    // does not.
    const int x_pixel = threadIdx.x % BN;
    const int x_channel = threadIdx.x / BN * X_LOADS;
    const int pixel = block_pixel + x_pixel;
    const int n = pixel / (P * Q);
    const int top = pixel < pixels ? pixel / Q % P * stride - pad : H;  // H: below every image
    const int left = pixel % Q * stride - pad;
    const float* source = x + (size_t(n) * C + x_channel) * H * W + top * W + left;

    // And of w: float4s of every W_STEP-th row. Each step takes the next BC rows of the filters.
    const int filters_padded = tiles_down * BM;
    const int w_channel = threadIdx.x / (BM / V);
    const int w_k = threadIdx.x % (BM / V) * V;
    const float* w_source = filters + size_t(w_channel) * filters_padded + block_k + w_k;

    int first = 0;  // the first of the BC channels that are brought in next
    int r = 0;      // and the tap
    int s = 0;
    float x_next[X_LOADS];
    float4 w_next[W_LOADS];

    const auto fetch = [&]() {
        const bool in_image = unsigned(top + r) < unsigned(H) && unsigned(left + s) < unsigned(W);
        #pragma unroll
        for (int i = 0; i < X_LOADS; ++i) {
            const bool inside = in_image && first + x_channel + i < C;
            x_next[i] = inside ? source[i * H * W + r * W + s] : 0.0f;
        }
        #pragma unroll
        for (int i = 0; i < W_LOADS; ++i) {
            w_next[i] = *reinterpret_cast<const float4*>(w_source + i * W_STEP * filters_padded);
        }
        w_source += BC * filters_padded;
        if (++s == S) {
            s = 0;
            if (++r == R) {
                r = 0;
                first += BC;
                source += size_t(BC) * H * W;
            }
        }
    };
    const auto put = [&](int buffer) {
        #pragma unroll
        for (int i = 0; i < X_LOADS; ++i) {
            x_tile[buffer][x_channel + i][x_pixel] = x_next[i];
        }
        #pragma unroll
        for (int i = 0; i < W_LOADS; ++i) {
            *reinterpret_cast<float4*>(&w_tile[buffer][w_channel + i * W_STEP][w_k]) = w_next[i];
        }
    };

    float sum[TM][TN] = {};
    fetch();
    put(0);
    __syncthreads();  // the first tiles are complete
    for (int buffer = 0; ; buffer ^= 1) {
        const bool more = first < C;
        if (more) {
            fetch();
        }
        #pragma unroll
        for (int c = 0; c < BC; ++c) {
            const auto w_fours = reinterpret_cast<const float4*>(&w_tile[buffer][c][thread_k]);
            const auto x_fours = reinterpret_cast<const float4*>(&x_tile[buffer][c][thread_pixel]);
            const float4 upper = w_fours[0];
            const float4 lower = w_fours[WM / 2 / V];
            const float4 near = x_fours[0];
            const float4 far = x_fours[WN / 2 / V];
            const float a[TM] = {upper.x, upper.y, upper.z, upper.w,
                                 lower.x, lower.y, lower.z, lower.w};
            const float b[TN] = {near.x, near.y, near.z, near.w, far.x, far.y, far.z, far.w};
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) {
                    sum[i][j] += a[i] * b[j];
                }
            }
        }
        if (!more) {
            break;
        }
        put(buffer ^ 1);
        // The next tiles are complete, and everybody has read the present ones, which are written
        // in the next step.
        __syncthreads();
    }

    // A thread's eight pixels are two groups of four neighbours. Where images are whole numbers of
    // float4s, no group crosses the border between two images, and it is stored as one.
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int first_pixel = block_pixel + thread_pixel + half * (WN / 2);
        #pragma unroll
        for (int i = 0; i < TM; ++i) {
            const int k = block_k + thread_k + i % V + i / V * (WM / 2);
            const float* const four = &sum[i][half * V];
            if (k >= K) {
                continue;
            }
            if (P * Q % V == 0) {
                if (first_pixel < pixels) {
                    const int image = first_pixel / (P * Q);
                    float* const target = y + (size_t(image) * K + k) * P * Q + first_pixel % (P * Q);
                    *reinterpret_cast<float4*>(target) =
                        make_float4(four[0], four[1], four[2], four[3]);
                }
                continue;
            }
            #pragma unroll
            for (int j = 0; j < V; ++j) {
                const int own = first_pixel + j;
                if (own < pixels) {
                    y[(size_t(own / (P * Q)) * K + k) * P * Q + own % (P * Q)] = four[j];
                }
            }
        }
    }
}
