// x and w are rearranged with channels last first; a warp then adds 32 channels at a time and
// shuffles.
//
// /// launch
// [[scratch]]
// name = "xs"
// dtype = "float32"
// shape = ["N", "H", "W", "C"]
//
// [[scratch]]
// name = "ws"
// dtype = "float32"
// shape = ["K", "R", "S", "C"]
//
// [[launch]]
// kernel = "last"
// args = ["x", "xs", "N", "C", "H * W"]
// grid = ["cdiv(N * C * H * W, 128)"]
// block = [128]
//
// [[launch]]
// kernel = "last"
// args = ["w", "ws", "K", "C", "R * S"]
// grid = ["cdiv(K * C * R * S, 128)"]
// block = [128]
//
// [[launch]]
// kernel = "conv2d"
// args = ["xs", "ws", "y", "N", "C", "H", "W", "K", "R", "S", "stride", "pad"]
// grid = ["cdiv(N * K * P * Q, 4)"]
// block = [32, 4]
// ///

extern "C" __global__ void last(const float* from, float* to, int outer, int channels, int inner)
{
    const size_t i = size_t(blockIdx.x) * 128 + threadIdx.x;
    if (i >= size_t(outer) * channels * inner) return;
    const size_t c = i % channels, at = i / channels % inner, o = i / channels / inner;
    to[i] = from[(o * channels + c) * inner + at];
}

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C,
                                  int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const size_t own = size_t(blockIdx.x) * 4 + threadIdx.y;
    if (own >= size_t(N) * K * P * Q) return;
    const int q = own % Q, p = own / Q % P, k = own / Q / P % K, n = own / Q / P / K;
    float sum = 0.0f;
    for (int r = 0; r < R; ++r)
        for (int s = 0; s < S; ++s) {
            const int row = p * stride - pad + r, column = q * stride - pad + s;
            if (row < 0 || row >= H || column < 0 || column >= W) continue;
            const float* const pixel = x + ((size_t(n) * H + row) * W + column) * C;
            const float* const taps = w + ((size_t(k) * R + r) * S + s) * C;
            for (int c = threadIdx.x; c < C; c += 32) sum += pixel[c] * taps[c];
        }
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
    if (threadIdx.x == 0) y[own] = sum;
}
