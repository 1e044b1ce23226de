// The filter moves into constant memory. Its cache hands one word to all 32 threads of a warp at
// once, and beside the path that loads from global memory take: all threads of a warp are at the
// same tap of the same filter, which is the case that constant memory is made for. The launch block
// copies w into the __constant__ array before the kernel is launched.
//
// What it should buy: one load request for 32 multiply-adds where there were two, in PTX as in SASS.
//
// This is a side step: constant memory ends at 64 KiB, 16,384 weights. 64 filters of 28 channels and
// 3 × 3 taps fit, 128 of 128 channels are nine times too many. Where w does not fit, a second
// instance of the same kernel reads it from global memory, and nothing has been gained. The
// filters of image processing (one channel, a few dozen weights) are where this pays.
//
// /// launch
// side_step = true
//
// [[launch]]
// kernel = "conv2d<true>"
// when = "K * C * R * S <= CAPACITY"
// constant = { weights = "w" }
// grid = ["cdiv(P * Q, THREADS)", "K", "N"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "conv2d<false>"
// when = "K * C * R * S > CAPACITY"
// grid = ["cdiv(P * Q, THREADS)", "K", "N"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 128;     // threads of a block, all in the same channel of the same image of y
constexpr int CAPACITY = 16384;  // floats in the 64 KiB that CUDA has for __constant__ variables

__constant__ float weights[CAPACITY];  // w, K × C × R × S, where it fits

// y = x ∗ w. x is N × C × H × W, w is K × C × R × S and y is N × K × P × Q.
// IN_CONSTANT: the weights are in constant memory.
template <bool IN_CONSTANT>
__global__ void conv2d(const float* __restrict__ x, const float* __restrict__ w,
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

    const int top = pixel / Q * stride - pad;
    const int left = pixel % Q * stride - pad;
    const float* const image = x + size_t(n) * C * H * W;
    const float* const filter = (IN_CONSTANT ? weights : w) + size_t(k) * C * R * S;

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
