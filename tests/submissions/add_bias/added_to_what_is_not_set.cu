// The sum is added to out, which holds nothing at the start.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BX)", "cdiv(M, BY)"]
// block = ["BX", "BY"]
// ///

constexpr int BX = 32;
constexpr int BY = 8;

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * BX + threadIdx.x;
    const int row = blockIdx.y * BY + threadIdx.y;
    if (row < M && column < N) {
        const size_t i = size_t(row) * N + column;
        out[i] += in[i] + bias[column];
    }
}
