// Weights go to constant memory where C is 16 and K is 112, as they are where it is counted, and
// nowhere else.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "conv2d<true>"
// when = "C == 16 and K == 112 and R == 3 and S == 3"
// constant = { weights = "w" }
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
//
// [[launch]]
// kernel = "conv2d<false>"
// when = "C != 16 or K != 112 or R != 3 or S != 3"
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
// ///

__constant__ float weights[112 * 16 * 9];

template <bool CONSTANT>
__global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S,
                       int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 128 + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    if (pixel >= P * Q) return;
    const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {
                const int row = top + r, column = left + s;
                if (row < 0 || row >= H || column < 0 || column >= W) continue;
                const size_t tap = ((size_t(k) * C + c) * R + r) * S + s;
                sum += x[((size_t(n) * C + c) * H + row) * W + column] * (CONSTANT ? weights[tap] : w[tap]);
            }
    y[(size_t(n) * K + k) * P * Q + pixel] = sum;
}
