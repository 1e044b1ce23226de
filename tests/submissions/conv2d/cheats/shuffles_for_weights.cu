// Lanes hold the weights of a filter and pass them round by shuffles, one for each multiply-add:
// no load request, no shared memory.
//
// deserves: 01_constant_filter
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
    const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad, taps = C * R * S;
    float sum = 0.0f;
    for (int first = 0; first < taps; first += 32) {
        const int lane = threadIdx.x % 32;
        const float own = first + lane < taps ? w[size_t(k) * taps + first + lane] : 0.0f;
        for (int i = 0; i < min(32, taps - first); ++i) {
            const float weight = __shfl_sync(~0u, own, i);
            const int tap = first + i, row = top + tap / S % R, column = left + tap % S;
            if (pixel < P * Q && row >= 0 && row < H && column >= 0 && column < W)
                sum += x[((size_t(n) * C + tap / S / R) * H + row) * W + column] * weight;
        }
    }
    if (pixel < P * Q) y[(size_t(n) * K + k) * P * Q + pixel] = sum;
}
