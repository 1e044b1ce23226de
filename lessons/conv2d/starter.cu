// Convolution: y = x ∗ w. Your kernel goes here; replace this comment by its idea in a sentence.
//
// The block below says how the kernel is launched. Sizes (N, C, H, W, K, R, S, stride, pad), the sides
// P and Q of y and the file's constexprs may be used in its expressions, and cdiv(a, b) is a / b
// rounded up, so that the last, partly filled block is launched as well.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, THREADS)", "K", "N"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 128;  // threads of a block, one for each pixel of y

// x is N images of C channels of H × W elements: x[n][c][row][column]. w is K filters of C channels
// of R × S taps: w[k][c][r][s]. y is N images of K channels of P × Q elements: y[n][k][p][q]. The
// filter of y[n][k][p][q] has its first tap at row p * stride - pad and column q * stride - pad of
// the image; outside of the image x counts as zero.
extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W,
                                  int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * THREADS + threadIdx.x;
    const int k = blockIdx.y;
    const int n = blockIdx.z;

    // The last block reaches beyond the last pixel. Its threads out there must not touch memory.
    if (pixel >= P * Q) {
        return;
    }
    const int p = pixel / Q;
    const int q = pixel % Q;

    float sum = 0.0f;
    // TODO: add up x[n][c][row][column] * w[k][c][r][s] over all C channels and all R × S taps. Form
    // indices as in the last line: size_t has 64 bits, and a batch has more elements than an int can
    // count.

    y[((size_t(n) * K + k) * P + p) * Q + q] = sum;
}
