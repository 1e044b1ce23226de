// Mistake: the row is the upper half of a product by a reciprocal of 32 bits, which is rounded up: of an index i of
// columns N the product is too large from about 2^32 / N on, for some N.
//
// /// launch
// [[launch]]
// kernel = "few"
// grid = ["cdiv(M * N, BLOCK)"]
// block = ["BLOCK"]
// when = "N > 1 and M * N < 8388608"
//
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BLOCK)", "min(M, 65535)"]
// block = ["BLOCK"]
// when = "N == 1 or M * N >= 8388608"
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void few(const float* in, const float* bias, float* out, int M, int N)
{
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= unsigned(M) * N) return;
    const unsigned reciprocal = 0xffffffffu / N + 1;
    out[i] = in[i] + bias[i - __umulhi(i, reciprocal) * N];
}

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) return;
    for (int row = blockIdx.y; row < M; row += gridDim.y) {
        out[size_t(row) * N + column] = in[size_t(row) * N + column] + bias[column];
    }
}
