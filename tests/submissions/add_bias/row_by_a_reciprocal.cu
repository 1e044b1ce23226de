// Mistake: the row is a product with a float's reciprocal, rounded down: 3 · (1 / 3) may be less than 1.
//
// /// launch
// [[launch]]
// kernel = "few"
// grid = ["cdiv(M * N, BLOCK)"]
// block = ["BLOCK"]
// when = "N <= 4096 and M * N < 2147483648"
//
// [[launch]]
// kernel = "wide"
// grid = ["cdiv(N, BLOCK)", "min(M, 65535)"]
// block = ["BLOCK"]
// when = "N > 4096 or M * N >= 2147483648"
// ///

constexpr int BLOCK = 256;
// Division by N as a multiplication: the upper half of i * ceil(2^32 / N).
extern "C" __global__ void few(const float* __restrict__ in, const float* __restrict__ bias, float* __restrict__ out, int M, int N)
{
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= unsigned(M) * N) return;
    const unsigned row = unsigned(i * (1.0f / N));
    const unsigned column = i - row * N;
    out[i] = in[i] + bias[column];
}
extern "C" __global__ void wide(const float* __restrict__ in, const float* __restrict__ bias, float* __restrict__ out, int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) return;
    for (int row = blockIdx.y; row < M; row += gridDim.y) out[size_t(row) * N + column] = in[size_t(row) * N + column] + bias[column];
}
