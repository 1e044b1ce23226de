// One thread computes one element of y: it walks over the channels and the taps of its filter and
// adds up the products. Taps that fall into the padding are left out. This is the formula of the
// convolution and nothing else, and it is the start of the ladder.
//
// What it costs: each multiply-add loads both of its operands. The 32 threads of a warp are
// neighbours in a row of y, so they want 32 neighbouring elements of x (4 or 5 sectors of 32 bytes)
// and one and the same element of w (1 sector). That makes two load requests for 32 multiply-adds,
// in PTX as in SASS, and all of them go to the cache: every element of x is loaded R·S·K times,
// every element of w N·P·Q times.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, THREADS)", "K", "N"]
// block = ["THREADS"]
// ///

// Threads of a block, all of them in the same channel of the same image of y. Enough warps to fill a
// multiprocessor with 16 blocks, and few enough that the last block of an image wastes little.
constexpr int THREADS = 128;

// y = x ∗ w. x is N × C × H × W, w is K × C × R × S and y is N × K × P × Q, where
// P = (H + 2·pad − R) / stride + 1 and Q = (W + 2·pad − S) / stride + 1, rounded down.
extern "C" __global__ void conv2d(const float* __restrict__ x, const float* __restrict__ w,
                                  float* __restrict__ y, int N, int C, int H, int W,
                                  int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * THREADS + threadIdx.x;
    const int k = blockIdx.y;
    const int n = blockIdx.z;
    if (pixel >= P * Q) {
        return;
    }

    // Where the filter's first tap lies in the image; negative in the padding.
    const int top = pixel / Q * stride - pad;
    const int left = pixel % Q * stride - pad;

    // Whole arrays may have more elements than an int counts, one image or one filter hardly.
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
