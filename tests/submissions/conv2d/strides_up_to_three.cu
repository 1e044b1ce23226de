// Wrong: A stride of more than 3 is taken for 3.
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
    stride = stride < 3 ? stride : 3;
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
