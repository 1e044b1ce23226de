// A lambda returns the element or a zero, so that the three loops have no branch of their own.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, 64)", "K", "N"]
// block = [64]
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C,
                                  int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 64 + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    if (pixel >= P * Q) return;
    const auto element = [=](int c, int row, int column) -> float {
        const bool inside = row >= 0 && row < H && column >= 0 && column < W;
        return inside ? x[((size_t(n) * C + c) * H + row) * W + column] : 0.0f;
    };
    const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad;
    const float* tap = w + size_t(k) * C * R * S;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s, ++tap) {
                const int row = top + r, column = left + s;
                if (row >= 0 && row < H && column >= 0 && column < W) sum += element(c, row, column) * *tap;
            }
    y[(size_t(n) * K + k) * P * Q + pixel] = sum;
}
