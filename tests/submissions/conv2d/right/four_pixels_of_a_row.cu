// A thread computes four neighbours in a row of y and reads a row of x for all of them at once.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(N * K * P * cdiv(Q, 4), 128)"]
// block = [128]
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C,
                                  int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1, fours = (Q + 3) / 4;
    const size_t own = size_t(blockIdx.x) * 128 + threadIdx.x;
    if (own >= size_t(N) * K * P * fours) return;
    const int q = own % fours * 4, p = own / fours % P, k = own / fours / P % K, n = own / fours / P / K;
    float sum[4] = {};
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r) {
            const int row = p * stride - pad + r;
            if (row < 0 || row >= H) continue;
            const float* const line = x + ((size_t(n) * C + c) * H + row) * W;
            const float* const taps = w + ((size_t(k) * C + c) * R + r) * S;
            for (int column = q * stride - pad; column < (q + 3) * stride - pad + S; ++column) {
                if (column < 0 || column >= W) continue;
                const float value = line[column];
                for (int i = 0; i < 4; ++i) {
                    const int s = column - ((q + i) * stride - pad);
                    if (s >= 0 && s < S) sum[i] = fmaf(value, taps[s], sum[i]);
                }
            }
        }
    for (int i = 0; i < min(4, Q - q); ++i) y[((size_t(n) * K + k) * P + p) * Q + q + i] = sum[i];
}
