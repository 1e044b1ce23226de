// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W,
                                  int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 128 + threadIdx.x;
    const int k = blockIdx.y;
    const int n = blockIdx.z;
    if (pixel >= P * Q) {
        return;
    }
    const float* image = x + size_t(n) * C * H * W;
    const float* filter = w + size_t(k) * C * R * S;

    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) {
            const int row = pixel / Q * stride - pad + r;
            for (int s = 0; s < S; ++s) {
                const int column = pixel % Q * stride - pad + s;
                if (row < H && column < W) {  //!
                    sum += image[(c * H + row) * W + column] * filter[(c * R + r) * S + s];  //!
                }
            }
        }
    }
    y[(size_t(n) * K + k) * P * Q + pixel] = sum;
}
