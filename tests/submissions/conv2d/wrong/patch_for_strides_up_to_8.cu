// Mistake: a block of 32 pixels of a row brings its row of the image to shared memory, which has room for strides
// up to 8. Wrong (beyond shared memory) for stride = 16, W = 600, S = 3. The contract: any stride.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(Q, 32) * P", "K", "N"]
// block = [32]
// ///
extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W,
                                  int K, int R, int S, int stride, int pad)
{
    __shared__ float line[31 * 8 + 64];
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int across = (Q + 31) / 32;
    const int p = blockIdx.x / across, first = blockIdx.x % across * 32, q = first + threadIdx.x;
    const int k = blockIdx.y, n = blockIdx.z;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r) {
            const int row = p * stride - pad + r;
            if (row < 0 || row >= H) continue;
            const float* const from = x + ((size_t(n) * C + c) * H + row) * W;
            for (int s0 = 0; s0 < S; s0 += 64) {
                const int taps = min(64, S - s0), wide = 31 * stride + taps;
                __syncwarp();
                for (int i = threadIdx.x; i < wide; i += 32) {
                    const int column = first * stride - pad + s0 + i;
                    line[i] = column >= 0 && column < W ? from[column] : 0.0f;
                }
                __syncwarp();
                for (int s = 0; s < taps; ++s)
                    sum += line[threadIdx.x * stride + s] * w[((size_t(k) * C + c) * R + r) * S + s0 + s];
            }
        }
    if (q < Q) y[((size_t(n) * K + k) * P + p) * Q + q] = sum;
}
