// Mistake: the block copies the elements under its own tile, and not the halo around it.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(Q, TILE) * cdiv(P, TILE)", "K", "N"]
// block = ["TILE", "TILE"]
// shared = "4 * ((TILE - 1) * stride + R) * ((TILE - 1) * stride + S)"
// ///

constexpr int TILE = 16;

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W,
                                  int K, int R, int S, int stride, int pad)
{
    extern __shared__ float patch[];
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int patch_h = (TILE - 1) * stride + R;
    const int patch_w = (TILE - 1) * stride + S;
    const int tiles_across = (Q + TILE - 1) / TILE;
    const int first_p = blockIdx.x / tiles_across * TILE;
    const int first_q = blockIdx.x % tiles_across * TILE;
    const int p = first_p + threadIdx.y;
    const int q = first_q + threadIdx.x;
    const int k = blockIdx.y;
    const int n = blockIdx.z;

    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        for (int i = threadIdx.y; i < (TILE - 1) * stride + 1; i += TILE) {
            for (int j = threadIdx.x; j < (TILE - 1) * stride + 1; j += TILE) {
                const int row = first_p * stride - pad + i;
                const int column = first_q * stride - pad + j;
                const bool inside = row >= 0 && row < H && column >= 0 && column < W;
                patch[i * patch_w + j] = inside ? x[((n * C + c) * H + row) * W + column] : 0.0f;
            }
        }
        __syncthreads();
        for (int r = 0; r < R; ++r) {
            for (int s = 0; s < S; ++s) {
                sum += patch[(threadIdx.y * stride + r) * patch_w + threadIdx.x * stride + s] *
                       w[((k * C + c) * R + r) * S + s];
            }
        }
        __syncthreads();
    }
    if (p < P && q < Q) {
        y[((n * K + k) * P + p) * Q + q] = sum;
    }
}
