// Mistake: the filter of a block is copied to shared memory of 48 KiB, 12,288 floats, whatever C * R * S is: wrong for
// C = 512 with 5 x 5 (12,800). The contract: C of 1030 and filters of 11 x 11 are judged, each beside small others.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, 128)", "K", "N"]
// block = [128]
// ///

extern "C" __global__ void conv2d(const float* __restrict__ x, const float* __restrict__ w,
                                  float* __restrict__ y, int N, int C, int H, int W,
                                  int K, int R, int S, int stride, int pad)

{
    __shared__ float filter[12288];
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 128 + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    for (int i = threadIdx.x; i < C * R * S; i += 128) filter[i] = w[size_t(k) * C * R * S + i];
    __syncthreads();
    if (pixel >= P * Q) return;
    const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad;
    const float* const image = x + size_t(n) * C * H * W;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {
                const int row = top + r, column = left + s;
                if (row >= 0 && row < H && column >= 0 && column < W)
                    sum += image[(c * H + row) * W + column] * filter[(c * R + r) * S + s];
            }
    y[(size_t(n) * K + k) * P * Q + pixel] = sum;
}
