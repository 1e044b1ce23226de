// The threads of a block share what they fetch. A block computes a tile of 32 × 4 neighbouring
// elements in 4 neighbouring channels of y. For one channel of x they need 34 × 6 elements between
// them (3 × 3 taps, stride 1): the tile and its halo, one element wide on every side. The block copies
// that patch to shared memory, once, and every thread takes its R·S elements from there. The weights
// are copied, too.
//
// What it should buy: the 204 elements of a patch serve 4 · 128 · 9 multiply-adds, 23 each, so global
// sectors fall from about 5 for a warp's multiply-add to a quarter of one. And most of what rung 00
// does is no arithmetic but bookkeeping, in PTX 20 instructions for each multiply-add: padding
// becomes zeros in the patch and no longer takes four comparisons for each tap, and for 3 × 3
// filters, whose size the compiler is told, the loops over taps are unrolled. What is left is the
// traffic with shared memory: two reads for every multiply-add in PTX, one and a half in SASS.
//
// /// launch
// [[launch]]
// kernel = "conv2d<3>"
// when = "R == 3 and S == 3"
// grid = ["cdiv(Q, TILE_W) * cdiv(P, TILE_H)", "cdiv(K, FILTERS)", "N"]
// block = ["TILE_W", "TILE_H", "FILTERS"]
// shared = "4 * CHANNELS * (((TILE_H - 1) * stride + R) * ((TILE_W - 1) * stride + S) + FILTERS * R * S)"
//
// [[launch]]
// kernel = "conv2d<0>"
// when = "R != 3 or S != 3"
// grid = ["cdiv(Q, TILE_W) * cdiv(P, TILE_H)", "cdiv(K, FILTERS)", "N"]
// block = ["TILE_W", "TILE_H", "FILTERS"]
// shared = "4 * CHANNELS * (((TILE_H - 1) * stride + R) * ((TILE_W - 1) * stride + S) + FILTERS * R * S)"
// ///

constexpr int TILE_W = 32;  // columns of y that a block computes: a warp is one row of the tile
constexpr int TILE_H = 4;   // rows of y that a block computes
constexpr int FILTERS = 4;  // channels of y that a block computes: 4 · 128 threads

// Channels of x between two barriers. The threads of one channel of y copy one of them each.
constexpr int CHANNELS = FILTERS;

// y = x ∗ w. x is N × C × H × W, w is K × C × R × S and y is N × K × P × Q.
// TAPS: R and S, where the compiler shall know them; 0 for filters of any size.
template <int TAPS>
__global__ void __launch_bounds__(TILE_W * TILE_H * FILTERS, 3)
conv2d(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
       int N, int C, int H, int W, int K, int any_R, int any_S, int stride, int pad)
{
    const int R = TAPS ? TAPS : any_R;
    const int S = TAPS ? TAPS : any_S;

    // How large the patch is depends on stride and filter, so the launch block sets its size.
    // CHANNELS patches of patch_h × patch_w elements, then FILTERS × CHANNELS × R × S weights.
    extern __shared__ float shared[];
    const int patch_h = (TILE_H - 1) * stride + R;
    const int patch_w = (TILE_W - 1) * stride + S;
    float* const patches = shared;
    float* const weights = shared + CHANNELS * patch_h * patch_w;

    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int tiles_across = (Q + TILE_W - 1) / TILE_W;
    const int tile_p = blockIdx.x / tiles_across * TILE_H;  // the tile's first row in y
    const int tile_q = blockIdx.x % tiles_across * TILE_W;  // and its first column
    const int n = blockIdx.z;

    // What this thread computes.
    const int p = tile_p + threadIdx.y;
    const int q = tile_q + threadIdx.x;
    const int k = blockIdx.y * FILTERS + threadIdx.z;
    const bool inside = p < P && q < Q && k < K;
    const float* const own_taps = patches + threadIdx.y * stride * patch_w + threadIdx.x * stride;
    float* const own_weights = weights + threadIdx.z * CHANNELS * R * S;

    // What it copies: elements of one of the patches, and some of its filter's weights.
    const int first_row = tile_p * stride - pad;
    const int first_column = tile_q * stride - pad;
    const float* const image = x + size_t(n) * C * H * W;
    const float* const filter = w + size_t(k) * C * R * S;
    float* const own_patch = patches + threadIdx.z * patch_h * patch_w;

    float sum = 0.0f;
    for (int first = 0; first < C; first += CHANNELS) {
        const int channels = min(CHANNELS, C - first);
        if (threadIdx.z < channels) {
            const float* const channel = image + size_t(first + threadIdx.z) * H * W;
            for (int i = threadIdx.y; i < patch_h; i += TILE_H) {
                const int row = first_row + i;
                for (int j = threadIdx.x; j < patch_w; j += TILE_W) {
                    const int column = first_column + j;
                    const bool in_image = row >= 0 && row < H && column >= 0 && column < W;
                    own_patch[i * patch_w + j] = in_image ? channel[row * W + column] : 0.0f;
                }
            }
        }
        if (k < K) {
            for (int i = threadIdx.y * TILE_W + threadIdx.x; i < channels * R * S; i += TILE_W * TILE_H) {
                own_weights[i] = filter[first * R * S + i];
            }
        }
        __syncthreads();  // patches and weights are complete

        if (inside) {
            const float* weight = own_weights;
            for (int c = 0; c < channels; ++c) {
                for (int r = 0; r < R; ++r) {
                    const float* const taps = own_taps + (c * patch_h + r) * patch_w;
                    for (int s = 0; s < S; ++s) {
                        sum += taps[s] * *weight++;
                    }
                }
            }
        }
        __syncthreads();  // they have been read, and may be overwritten
    }
    if (inside) {
        y[((size_t(n) * K + k) * P + p) * Q + q] = sum;
    }
}
