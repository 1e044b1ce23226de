// Wrong: images beyond the eighth are left out where they are large, as they are at the main size
// alone.
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
    if (pixel >= P * Q || (n >= 8 && C > 64)) {
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
    y[((size_t(n) * K + k) * P + p) * Q + q] = sum;
}
