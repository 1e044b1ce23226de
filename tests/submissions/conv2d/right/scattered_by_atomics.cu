// Turned round: a thread takes an element of x and adds its products to all outputs that see it,
// by atomics on an output that the launch block zeroes.
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
    for (int r = 0; r < R; ++r)
        for (int s = 0; s < S; ++s) {
            const int down = row + pad - r, across = column + pad - s;
            if (down < 0 || across < 0 || down % stride || across % stride) continue;
            const int p = down / stride, q = across / stride;
            if (p >= P || q >= Q) continue;
            for (int k = 0; k < K; ++k)
                atomicAdd(&y[((size_t(n) * K + k) * P + p) * Q + q], value * w[((size_t(k) * C + c) * R + r) * S + s]);
        }
}
