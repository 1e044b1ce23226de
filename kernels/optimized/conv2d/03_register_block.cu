// A thread computes 8 elements of y instead of one: the same place in 8 neighbouring channels. All
// of them see the same elements of x through different filters, so an element that is fetched from
// the patch serves 8 multiply-adds. The 8 weights of one tap lie side by side in shared memory, and
// two float4s bring them in.
//
// What it should buy: in PTX three shared-memory reads for 8 multiply-adds where rung 02 needs 16.
// And what belongs to a tap, to find its address and to count the loop, is done once for 8
// multiply-adds.
//
// /// launch
// [[launch]]
// kernel = "conv2d<3>"
// when = "R == 3 and S == 3"
// grid = ["cdiv(Q, TILE_W) * cdiv(P, TILE_H)", "cdiv(K, FILTERS)", "N"]
// block = ["TILE_W", "TILE_H"]
// shared = "4 * CHANNELS * (R*S*FILTERS + ((TILE_H - 1) * stride + R) * ((TILE_W - 1) * stride + S))"
//
// [[launch]]
// kernel = "conv2d<0>"
// when = "R != 3 or S != 3"
// grid = ["cdiv(Q, TILE_W) * cdiv(P, TILE_H)", "cdiv(K, FILTERS)", "N"]
// block = ["TILE_W", "TILE_H"]
// shared = "4 * CHANNELS * (R*S*FILTERS + ((TILE_H - 1) * stride + R) * ((TILE_W - 1) * stride + S))"
// ///

constexpr int TILE_W = 32;   // columns of y that a block computes: a warp is one row of the tile
constexpr int TILE_H = 8;    // rows of y that a block computes
constexpr int FILTERS = 8;   // channels of y that a thread computes, and with it the block
constexpr int CHANNELS = 4;  // channels of x between two barriers
constexpr int V = 4;         // floats in a float4

// y = x ∗ w. x is N × C × H × W, w is K × C × R × S and y is N × K × P × Q.
// TAPS: R and S, where the compiler shall know them; 0 for filters of any size.
template <int TAPS>
__global__ void __launch_bounds__(TILE_W * TILE_H, 4)
conv2d(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
       int N, int C, int H, int W, int K, int any_R, int any_S, int stride, int pad)
{
    const int R = TAPS ? TAPS : any_R;
    const int S = TAPS ? TAPS : any_S;

    // First the weights, CHANNELS × R × S × FILTERS, whose float4s need addresses that are multiples
    // of 16; then CHANNELS patches of patch_h × patch_w elements of x.
    extern __shared__ __align__(16) float shared[];
    const int patch_h = (TILE_H - 1) * stride + R;
    const int patch_w = (TILE_W - 1) * stride + S;
    float* const weights = shared;
    float* const patches = shared + CHANNELS * R * S * FILTERS;

    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int tiles_across = (Q + TILE_W - 1) / TILE_W;
    const int tile_p = blockIdx.x / tiles_across * TILE_H;  // the tile's first row in y
    const int tile_q = blockIdx.x % tiles_across * TILE_W;  // and its first column
    const int n = blockIdx.z;

    // What this thread computes.
    const int p = tile_p + threadIdx.y;
    const int q = tile_q + threadIdx.x;
    const int first_k = blockIdx.y * FILTERS;
    const bool inside = p < P && q < Q;
    const float* const own_taps = patches + threadIdx.y * stride * patch_w + threadIdx.x * stride;

    const int thread = threadIdx.y * TILE_W + threadIdx.x;
    const int first_row = tile_p * stride - pad;
    const int first_column = tile_q * stride - pad;
    const float* const image = x + size_t(n) * C * H * W;
    const float* const filters = w + size_t(first_k) * C * R * S;

    float sum[FILTERS] = {};
    for (int first = 0; first < C; first += CHANNELS) {
        const int channels = min(CHANNELS, C - first);
        for (int c = 0; c < channels; ++c) {
            const float* const channel = image + size_t(first + c) * H * W;
            for (int i = threadIdx.y; i < patch_h; i += TILE_H) {
                const int row = first_row + i;
                for (int j = threadIdx.x; j < patch_w; j += TILE_W) {
                    const int column = first_column + j;
                    const bool in_image = row >= 0 && row < H && column >= 0 && column < W;
                    patches[(c * patch_h + i) * patch_w + j] =
                        in_image ? channel[row * W + column] : 0.0f;
                }
            }
        }
        // The weights are turned: filter by tap in w, tap by filter here. Beyond the last filter
        // there are zeros.
        for (int i = thread; i < channels * R * S * FILTERS; i += TILE_W * TILE_H) {
            const int k = i % FILTERS;
            const int tap = first * R * S + i / FILTERS;
            weights[i] = first_k + k < K ? filters[size_t(k) * C * R * S + tap] : 0.0f;
        }
        __syncthreads();  // weights and patches are complete

        if (inside) {
            const float4* weight = reinterpret_cast<const float4*>(weights);
            for (int c = 0; c < channels; ++c) {
                for (int r = 0; r < R; ++r) {
                    const float* const taps = own_taps + (c * patch_h + r) * patch_w;
                    for (int s = 0; s < S; ++s) {
                        const float tap = taps[s];  // fetched once, used FILTERS times
                        #pragma unroll
                        for (int k = 0; k < FILTERS; k += V) {
                            const float4 four = *weight++;
                            sum[k + 0] += tap * four.x;
                            sum[k + 1] += tap * four.y;
                            sum[k + 2] += tap * four.z;
                            sum[k + 3] += tap * four.w;
                        }
                    }
                }
            }
        }
        __syncthreads();  // they have been read, and may be overwritten
    }

    #pragma unroll
    for (int k = 0; k < FILTERS; ++k) {
        if (inside && first_k + k < K) {
            y[((size_t(n) * K + first_k + k) * P + p) * Q + q] = sum[k];
        }
    }
}
