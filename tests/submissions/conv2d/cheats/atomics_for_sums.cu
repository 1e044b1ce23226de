// Each product is added to y by an atomic of its own, a multiplication without an addition: no multiply-add is counted,
// nothing is stored by a store.
//
// deserves: 01_constant_filter
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// zero = ["y"]
// grid = ["cdiv(N * K * P * Q, 256)"]
// block = [256]
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R,
                                  int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int place = blockIdx.x * 256 + threadIdx.x;
    if (place >= N * K * P * Q) {
        return;
    }
    const int q = place % Q, p = place / Q % P, k = place / (Q * P) % K, n = place / (Q * P * K);
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) {
            for (int s = 0; s < S; ++s) {
                const int h = p * stride - pad + r, v = q * stride - pad + s;
                if (h >= 0 && h < H && v >= 0 && v < W) {
                    const float product = __fmul_rn(x[((n * C + c) * H + h) * W + v], w[((k * C + c) * R + r) * S + s]);
                    atomicAdd(&y[place], product);
                }
            }
        }
    }
}
