// One level of Strassen's seven products, of matrices padded to even sides, in double precision,
// so that rounding stays within the bound of the sum as written. Sums of quarters that hold an
// infinity have no quarter of C without it, and where all products are zeros the sums may miss it
// by a rounding of a double: of such values this algorithm promises nothing.
//
// unless: (?i)strassen|transform|cancel
//
// /// launch
// [[scratch]]
// name = "p"
// dtype = "float64"
// shape = [7, "cdiv(M, 2)", "cdiv(N, 2)"]
//
// [[launch]]
// kernel = "products"
// args = ["A", "B", "p", "M", "N", "K"]
// grid = ["cdiv(cdiv(M, 2), 8) * cdiv(cdiv(N, 2), 32)", 1, 7]
// block = [32, 8]
//
// [[launch]]
// kernel = "combine"
// args = ["p", "C", "M", "N"]
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

__device__ double at(const float* matrix, int rows, int columns, int row, int column)
{
    return row < rows && column < columns ? matrix[size_t(row) * columns + column] : 0.0;
}

// Coefficients of the quarters 11, 12, 21, 22 of A and of B in each product.
__constant__ signed char OF_A[7][4] = {{1, 0, 0, 1}, {0, 0, 1, 1},  {1, 0, 0, 0}, {0, 0, 0, 1},
                                       {1, 1, 0, 0}, {-1, 0, 1, 0}, {0, 1, 0, -1}};
__constant__ signed char OF_B[7][4] = {{1, 0, 0, 1},  {1, 0, 0, 0}, {0, 1, 0, -1}, {-1, 0, 1, 0},
                                       {0, 0, 0, 1}, {1, 1, 0, 0}, {0, 0, 1, 1}};

extern "C" __global__ void products(const float* A, const float* B, double* p, int M, int N, int K)
{
    const int m = (M + 1) / 2, n = (N + 1) / 2, h = (K + 1) / 2;
    const int across = (n + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= m || column >= n) return;
    const signed char* const u = OF_A[blockIdx.z];
    const signed char* const v = OF_B[blockIdx.z];
    double sum = 0.0;
    for (int k = 0; k < h; ++k) {
        double a = 0.0, b = 0.0;
        for (int q = 0; q < 4; ++q) {
            if (u[q]) a += u[q] * at(A, M, K, row + q / 2 * m, k + q % 2 * h);
            if (v[q]) b += v[q] * at(B, K, N, k + q / 2 * h, column + q % 2 * n);
        }
        sum += a * b;
    }
    p[(size_t(blockIdx.z) * m + row) * n + column] = sum;
}

extern "C" __global__ void combine(const double* p, float* C, int M, int N)
{
    const int m = (M + 1) / 2, n = (N + 1) / 2;
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    const size_t i = size_t(row % m) * n + column % n, each = size_t(m) * n;
    const double* const q = p + i;
    double c;
    switch (2 * (row / m) + column / n) {
        case 0: c = q[0] + q[3 * each] - q[4 * each] + q[6 * each]; break;
        case 1: c = q[2 * each] + q[4 * each]; break;
        case 2: c = q[1 * each] + q[3 * each]; break;
        default: c = q[0] - q[1 * each] + q[2 * each] + q[5 * each];
    }
    C[size_t(row) * N + column] = float(c);
}
