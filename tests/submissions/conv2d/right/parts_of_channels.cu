// Blocks in z take eight channels each and add their parts to y by atomics.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(N * K * P * Q, 128)", 1, "cdiv(C, 8)"]
// block = [128]
// zero = ["y"]
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C,
                                  int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const size_t own = size_t(blockIdx.x) * 128 + threadIdx.x;
    if (own >= size_t(N) * K * P * Q) return;
    const int q = own % Q, p = own / Q % P, k = own / Q / P % K, n = own / Q / P / K;
    float sum = 0.0f;
    for (int c = blockIdx.z * 8; c < min(C, int(blockIdx.z + 1) * 8); ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {
                const int row = p * stride - pad + r, column = q * stride - pad + s;
                if (unsigned(row) < unsigned(H) && unsigned(column) < unsigned(W))
                    sum += x[((size_t(n) * C + c) * H + row) * W + column] * w[((size_t(k) * C + c) * R + r) * S + s];
            }
    atomicAdd(&y[own], sum);
}
