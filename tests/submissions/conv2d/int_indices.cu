// Wrong: the index into y is an int, which ends at 2^31 - 1.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, THREADS)", "K", "N"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 128;

extern "C" __global__ void conv2d(const float* x, const float* w, float* y,
                                  int N, int C, int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * THREADS + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    if (pixel >= P * Q) {
        return;
    }
    const int p = pixel / Q, q = pixel % Q;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) {
            for (int s = 0; s < S; ++s) {
                const int row = stride * p + r - pad, column = stride * q + s - pad;
                if (row >= 0 && row < H && column >= 0 && column < W) {
                    sum += x[((size_t(n) * C + c) * H + row) * W + column] * w[((size_t(k) * C + c) * R + r) * S + s];
                }
            }
        }
    }
    y[(n * K + k) * P * Q + pixel] = sum;
}
