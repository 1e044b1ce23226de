// Mistake: Winograd's F(2x2, 3x3) with a sign of the input transform's last row exchanged: right
// wherever the last row and column of a tile are zero.
//
// /// launch
// [[launch]]
// kernel = "winograd"
// when = "R == 3 and S == 3 and stride == 1"
// grid = ["cdiv(cdiv(P, 2) * cdiv(Q, 2), THREADS)", "K", "N"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "direct"
// when = "R != 3 or S != 3 or stride != 1"
// grid = ["cdiv(P * Q, THREADS)", "K", "N"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 128;

__global__ void winograd(const float* x, const float* w, float* y, int N, int C, int H, int W,
                         int K, int R, int S, int stride, int pad)
{
    const int P = H + 2 * pad - 2;
    const int Q = W + 2 * pad - 2;
    const int across = (Q + 1) / 2;
    const int tile = blockIdx.x * THREADS + threadIdx.x;
    const int p = tile / across * 2;
    const int q = tile % across * 2;
    const int k = blockIdx.y;
    const int n = blockIdx.z;
    if (p >= P) {
        return;
    }
    float m[4][4] = {};
    for (int c = 0; c < C; ++c) {
        float d[4][4], u[4][3], v[4][4];
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
                const int row = p - pad + i;
                const int column = q - pad + j;
                const bool inside = row >= 0 && row < H && column >= 0 && column < W;
                d[i][j] = inside ? x[((n * C + c) * H + row) * W + column] : 0.0f;
            }
        }
        const float* const g = w + (k * C + c) * 9;
        for (int j = 0; j < 3; ++j) {
            u[0][j] = g[j];
            u[1][j] = 0.5f * (g[j] + g[3 + j] + g[6 + j]);
            u[2][j] = 0.5f * (g[j] - g[3 + j] + g[6 + j]);
            u[3][j] = g[6 + j];
        }
        for (int j = 0; j < 4; ++j) {
            v[0][j] = d[0][j] - d[2][j];
            v[1][j] = d[1][j] + d[2][j];
            v[2][j] = d[2][j] - d[1][j];
            v[3][j] = d[1][j] - d[3][j];  // and below it is added as if this were d[3] - d[1]
        }
        for (int i = 0; i < 4; ++i) {
            m[i][0] += u[i][0] * (v[i][0] - v[i][2]);
            m[i][1] += 0.5f * (u[i][0] + u[i][1] + u[i][2]) * (v[i][1] + v[i][2]);
            m[i][2] += 0.5f * (u[i][0] - u[i][1] + u[i][2]) * (v[i][2] - v[i][1]);
            m[i][3] += u[i][2] * (v[i][3] - v[i][1]);
        }
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            float sum = 0.0f;
            for (int a = 0; a < 4; ++a) {
                for (int b = 0; b < 4; ++b) {
                    const float left = i == 0 ? a < 3 : a == 0 ? 0 : a == 2 ? -1 : 1;
                    const float right = j == 0 ? b < 3 : b == 0 ? 0 : b == 2 ? -1 : 1;
                    sum += left * right * m[a][b];
                }
            }
            if (p + i < P && q + j < Q) {
                y[((n * K + k) * P + p + i) * Q + q + j] = sum;
            }
        }
    }
}

__global__ void direct(const float* x, const float* w, float* y, int N, int C, int H, int W,
                                  int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1;
    const int Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * THREADS + threadIdx.x;
    const int k = blockIdx.y;
    const int n = blockIdx.z;
    if (pixel >= P * Q) {
        return;
    }
    const int p = pixel / Q;
    const int q = pixel % Q;

    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) {
            for (int s = 0; s < S; ++s) {
                const int row = p * stride - pad + r;
                const int column = q * stride - pad + s;
                if (row >= 0 && row < H && column >= 0 && column < W) {
                    sum += x[((n * C + c) * H + row) * W + column] * w[((k * C + c) * R + r) * S + s];
                }
            }
        }
    }
    y[((n * K + k) * P + p) * Q + q] = sum;
}
