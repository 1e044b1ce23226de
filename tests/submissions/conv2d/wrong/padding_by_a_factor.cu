// No branch for the padding: the pixel is clamped into the image and multiplied by 0 or 1. Where the clamped pixel is
// infinite or no number, 0 times it is NaN, and an output that never saw that pixel is lost.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R,
                                  int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 128 + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    if (pixel >= P * Q) return;
    const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {
                const int row = min(max(top + r, 0), H - 1), column = min(max(left + s, 0), W - 1);
                const float inside = row == top + r && column == left + s ? 1.0f : 0.0f;
                sum += inside * x[((size_t(n) * C + c) * H + row) * W + column] * w[((size_t(k) * C + c) * R + r) * S + s];
            }
    y[(size_t(n) * K + k) * P * Q + pixel] = sum;
}
