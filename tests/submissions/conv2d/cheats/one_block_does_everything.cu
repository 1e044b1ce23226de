// A single block walks over all of y.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = [1]
// block = [1024]
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C,
                                  int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    for (size_t i = threadIdx.x; i < size_t(N) * K * P * Q; i += 1024) {
        const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;
        float sum = 0.0f;
        for (int c = 0; c < C; ++c)
            for (int r = 0; r < R; ++r)
                for (int s = 0; s < S; ++s) {
                    const int row = p * stride - pad + r, column = q * stride - pad + s;
                    if (row >= 0 && row < H && column >= 0 && column < W)
                        sum += x[((size_t(n) * C + c) * H + row) * W + column] * w[((size_t(k) * C + c) * R + r) * S + s];
                }
        y[i] = sum;
    }
}
