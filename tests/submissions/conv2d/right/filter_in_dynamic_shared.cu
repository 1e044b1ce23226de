// The block's filter lies in dynamic shared memory in parts of 512 weights; one block takes the
// pixels of one channel.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["K", "N"]
// block = [128]
// shared = "4 * 512"
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C,
                                  int H, int W, int K, int R, int S, int stride, int pad)
{
    extern __shared__ float weights[];
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int k = blockIdx.x, n = blockIdx.y, taps = C * R * S;
    for (int base = 0; base < P * Q; base += 128) {
        const int pixel = base + threadIdx.x;
        const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad;
        float sum = 0.0f;
        for (int first = 0; first < taps; first += 512) {
            const int count = min(512, taps - first);
            for (int i = threadIdx.x; i < count; i += 128) weights[i] = w[size_t(k) * taps + first + i];
            __syncthreads();
            for (int i = 0; i < count; ++i) {
                const int tap = first + i, s = tap % S, r = tap / S % R, c = tap / S / R;
                const int row = top + r, column = left + s;
                if (pixel < P * Q && row >= 0 && row < H && column >= 0 && column < W)
                    sum += x[((size_t(n) * C + c) * H + row) * W + column] * weights[i];
            }
            __syncthreads();
        }
        if (pixel < P * Q) y[(size_t(n) * K + k) * P * Q + pixel] = sum;
    }
}
