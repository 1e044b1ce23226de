// Winograd's F(4 × 4, 3 × 3) in double precision: 36 products for 16 outputs. Its filters have
// 24ths in them: they are taken 24 times as large, and the result is divided by 576, so that whole
// numbers stay whole. Other filters and strides go the direct way. Of infinities in a tile it
// promises nothing.
//
// /// launch
// [[launch]]
// kernel = "winograd"
// when = "R == 3 and S == 3 and stride == 1"
// grid = ["cdiv(N * K * cdiv(P, 4) * cdiv(Q, 4), 64)"]
// block = [64]
//
// [[launch]]
// kernel = "direct"
// when = "R != 3 or S != 3 or stride != 1"
// grid = ["cdiv(N * K * P * Q, 64)"]
// block = [64]
// ///

// 24 times the usual matrix.
__constant__ double G[6][3] = {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 24}};
__constant__ double BT[6][6] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
                                {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
__constant__ double AT[4][6] = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};

template <int ROWS, int INNER, int COLUMNS>
__device__ void multiply(double (&c)[ROWS][COLUMNS], const double (&a)[ROWS][INNER], const double (&b)[INNER][COLUMNS])
{
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j) {
            c[i][j] = 0.0;
            for (int k = 0; k < INNER; ++k) c[i][j] += a[i][k] * b[k][j];
        }
}

template <int ROWS, int COLUMNS>
__device__ void turn(double (&t)[COLUMNS][ROWS], const double (&a)[ROWS][COLUMNS])
{
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j) t[j][i] = a[i][j];
}

extern "C" __global__ void winograd(const float* x, const float* w, float* y, int N, int C,
                                    int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = H + 2 * pad - 2, Q = W + 2 * pad - 2, down = (P + 3) / 4, across = (Q + 3) / 4;
    const size_t own = size_t(blockIdx.x) * 64 + threadIdx.x;
    if (own >= size_t(N) * K * down * across) return;
    const int tile_q = own % across * 4, tile_p = own / across % down * 4;
    const int k = own / across / down % K, n = own / across / down / K;
    double sum[6][6] = {};
    for (int c = 0; c < C; ++c) {
        double d[6][6], g[3][3], half[6][6], t[6][6], v[6][6], gh[6][3], gt[3][6], u[6][6];
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) {
                const int row = tile_p + i - pad, column = tile_q + j - pad;
                const bool inside = row >= 0 && row < H && column >= 0 && column < W;
                d[i][j] = inside ? x[((size_t(n) * C + c) * H + row) * W + column] : 0.0f;
            }
        for (int i = 0; i < 9; ++i) g[i / 3][i % 3] = w[(size_t(k) * C + c) * 9 + i];
        multiply<6, 6, 6>(half, BT, d);
        turn<6, 6>(t, half);
        multiply<6, 6, 6>(half, BT, t);
        turn<6, 6>(v, half);
        multiply<6, 3, 3>(gh, G, g);
        turn<6, 3>(gt, gh);
        multiply<6, 3, 6>(half, G, gt);
        turn<6, 6>(u, half);
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) sum[i][j] += u[i][j] * v[i][j];
    }
    double first[4][6], turned[6][4], second[4][4];
    multiply<4, 6, 6>(first, AT, sum);
    turn<4, 6>(turned, first);
    multiply<4, 6, 4>(second, AT, turned);
    for (int i = 0; i < min(4, P - tile_p); ++i)
        for (int j = 0; j < min(4, Q - tile_q); ++j)
            y[((size_t(n) * K + k) * P + tile_p + i) * Q + tile_q + j] = float(second[j][i] / 576.0);
}

extern "C" __global__ void direct(const float* x, const float* w, float* y, int N, int C,
                                  int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const size_t own = size_t(blockIdx.x) * 64 + threadIdx.x;
    if (own >= size_t(N) * K * P * Q) return;
    const int q = own % Q, p = own / Q % P, k = own / Q / P % K, n = own / Q / P / K;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {
                const int row = p * stride - pad + r, column = q * stride - pad + s;
                if (row >= 0 && row < H && column >= 0 && column < W)
                    sum += x[((size_t(n) * C + c) * H + row) * W + column] * w[((size_t(k) * C + c) * R + r) * S + s];
            }
    y[own] = sum;
}
