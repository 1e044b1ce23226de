// Quotients by a multiplication and a shift of 16: wrong from some thousand weights of a filter on.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
// ///
// The C * R * S terms of an output, in one loop: their index is taken apart by multiplications.
extern "C" __global__ void conv2d(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int N, int C, int H, int W,
                                  int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 128 + threadIdx.x;
    if (pixel >= P * Q) return;
    const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad;
    const int taps = R * S;
    const unsigned magic_taps = (65536u + taps - 1) / taps;   // i / taps = i * magic >> 16
    const unsigned magic_S = (65536u + S - 1) / S;
    const float* const image = x + size_t(blockIdx.z) * C * H * W;
    const float* const filter = w + size_t(blockIdx.y) * C * taps;
    float sum = 0.0f;
    for (unsigned i = 0; i < C * taps; ++i) {
        const unsigned c = i * magic_taps >> 16;
        const unsigned tap = i - c * taps;
        const unsigned r = tap * magic_S >> 16;
        const int row = top + int(r);
        const int column = left + int(tap - r * S);
        if (row >= 0 && row < H && column >= 0 && column < W) sum += image[(size_t(c) * H + row) * W + column] * filter[i];
    }
    y[(size_t(blockIdx.z) * K + blockIdx.y) * P * Q + pixel] = sum;
}
