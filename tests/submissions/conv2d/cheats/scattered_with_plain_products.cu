// Elements of x are read once and their products scattered by atomics: hundreds of millions of
// them, and nothing that a claim looks at. The products are multiplications, and the additions are
// the atomics'.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(N * C * H * W, 64)"]
// block = [64]
// zero = ["y"]
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C,
                                  int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const size_t own = size_t(blockIdx.x) * 64 + threadIdx.x;
    if (own >= size_t(N) * C * H * W) return;
    const int column = own % W, row = own / W % H, c = own / W / H % C, n = own / W / H / C;
    const float value = x[own];
    for (int k = 0; k < K; ++k)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {
                const int down = row + pad - r, across = column + pad - s;
                if (down < 0 || across < 0 || down % stride || across % stride) continue;
                if (down / stride >= P || across / stride >= Q) continue;
                atomicAdd(&y[((size_t(n) * K + k) * P + down / stride) * Q + across / stride],
                          value * w[((size_t(k) * C + c) * R + r) * S + s]);
            }
}
