// Filters of 1 x 1 have a way of their own, whose test for the padding is that of stride 1 (pad <= p < H + pad). With stride 2 and
// padding it takes rows and columns beyond the image for inside and inner ones for outside. Wrong for 1 x 1, stride 2, pad 1.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
// ///
extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 128 + threadIdx.x;
    const int k = blockIdx.y;
    const int n = blockIdx.z;
    if (pixel >= P * Q) return;
    const int p = pixel / Q, q = pixel % Q;
    float sum = 0.0f;
    if (R == 1 && S == 1) {
        if (p >= pad && p < H + pad && q >= pad && q < W + pad) {
            const int place = min(max(p * stride - pad, 0), H - 1) * W + min(max(q * stride - pad, 0), W - 1);
            for (int c = 0; c < C; ++c) sum += x[(size_t(n) * C + c) * H * W + place] * w[size_t(k) * C + c];
        }
        y[((size_t(n) * K + k) * P + p) * Q + q] = sum;
        return;
    }
    for (int c = 0; c < C; ++c) for (int r = 0; r < R; ++r) for (int s = 0; s < S; ++s) {
        const int row = p * stride - pad + r, column = q * stride - pad + s;
        if (row >= 0 && row < H && column >= 0 && column < W)
            sum += x[((size_t(n) * C + c) * H + row) * W + column] * w[((size_t(k) * C + c) * R + r) * S + s];
    }
    y[((size_t(n) * K + k) * P + p) * Q + q] = sum;
}
