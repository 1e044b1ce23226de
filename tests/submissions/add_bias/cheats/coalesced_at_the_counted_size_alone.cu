// Where claims are counted x runs along rows, and elsewhere down columns.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// when = "M == 1024"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "down"
// when = "M != 1024"
// grid = ["cdiv(M, 32)", "cdiv(N, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row < M && column < N) out[size_t(row) * N + column] = in[size_t(row) * N + column] + bias[column];
}

extern "C" __global__ void down(const float* in, const float* bias, float* out, int M, int N)
{
    const int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 8 + threadIdx.y;
    if (row < M && column < N) out[size_t(row) * N + column] = in[size_t(row) * N + column] + bias[column];
}
