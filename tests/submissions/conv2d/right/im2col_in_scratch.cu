// The columns are written to scratch memory by one launch and multiplied by another, without
// tiles.
//
// /// launch
// [[scratch]]
// name = "columns"
// dtype = "float32"
// shape = ["C * R * S", "N * P * Q"]
//
// [[launch]]
// kernel = "im2col"
// args = ["x", "columns", "N", "C", "H", "W", "R", "S", "stride", "pad"]
// grid = ["cdiv(C * R * S * N * P * Q, 256)"]
// block = [256]
//
// [[launch]]
// kernel = "product"
// args = ["columns", "w", "y", "N", "K", "P * Q", "C * R * S"]
// grid = ["cdiv(N * K * P * Q, 256)"]
// block = [256]
// ///

extern "C" __global__ void im2col(const float* x, float* columns, int N, int C, int H, int W, int R, int S,
                                  int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const size_t pixels = size_t(N) * P * Q, i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i >= pixels * C * R * S) return;
    const size_t pixel = i % pixels;
    const int tap = i / pixels, s = tap % S, r = tap / S % R, c = tap / S / R;
    const int q = pixel % Q, p = pixel / Q % P, n = pixel / Q / P;
    const int row = p * stride - pad + r, column = q * stride - pad + s;
    const bool inside = row >= 0 && row < H && column >= 0 && column < W;
    columns[i] = inside ? x[((size_t(n) * C + c) * H + row) * W + column] : 0.0f;
}

extern "C" __global__ void product(const float* columns, const float* w, float* y, int N, int K, int PQ, int taps)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i >= size_t(N) * K * PQ) return;
    const size_t pixel = i % PQ, k = i / PQ % K, n = i / PQ / K;
    float sum = 0.0f;
    for (int tap = 0; tap < taps; ++tap) sum += columns[size_t(tap) * N * PQ + n * PQ + pixel] * w[k * taps + tap];
    y[i] = sum;
}
