// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
// shared = "R * S"  //!
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W,
                                  int K, int R, int S, int stride, int pad)
{
    extern __shared__ float taps[];
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 128 + threadIdx.x;
    const int k = blockIdx.y;
    const int n = blockIdx.z;
    const int top = pixel / Q * stride - pad;
    const int left = pixel % Q * stride - pad;

    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        const float* channel = x + (size_t(n) * C + c) * H * W;
        for (int i = threadIdx.x; i < R * S; i += 128) {
            taps[i] = w[(size_t(k) * C + c) * R * S + i];  //~
        }
        __syncthreads();
        for (int i = 0; i < R * S && pixel < P * Q; ++i) {
            const int row = top + i / S;
            const int column = left + i % S;
            if (0 <= row && row < H && 0 <= column && column < W) {
                sum += channel[row * W + column] * taps[i];  //~
            }
        }
        __syncthreads();
    }
    if (pixel < P * Q) {
        y[(size_t(n) * K + k) * P * Q + pixel] = sum;
    }
}
