// Threads beyond the image return before the barrier behind which the filter is complete, after
// they should have fetched a part of it.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, 64)", "K", "N"]
// block = [64]
// shared = "4 * C * R * S"
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C,
                                  int H, int W, int K, int R, int S, int stride, int pad)
{
    extern __shared__ float filter[];
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 64 + threadIdx.x, k = blockIdx.y, n = blockIdx.z, taps = C * R * S;
    if (pixel >= P * Q) return;
    for (int i = threadIdx.x; i < taps; i += 64) filter[i] = w[size_t(k) * taps + i];
    __syncthreads();
    const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad;
    float sum = 0.0f;
    for (int i = 0; i < taps; ++i) {
        const int row = top + i / S % R, column = left + i % S;
        if (row >= 0 && row < H && column >= 0 && column < W)
            sum += x[((size_t(n) * C + i / S / R) * H + row) * W + column] * filter[i];
    }
    y[(size_t(n) * K + k) * P * Q + pixel] = sum;
}
