// The function adds to a copy.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BX)", "cdiv(M, BY)"]
// block = ["BX", "BY"]
// ///

constexpr int BX = 16;
constexpr int BY = 16;

template <typename T>
__device__ void add_to(T value, T amount)
{
    value += amount;
}

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * BX + threadIdx.x;
    const int row = blockIdx.y * BY + threadIdx.y;
    if (row < M && column < N) {
        const size_t at = size_t(row) * N + column;
        float v = in[at];
        add_to(v, bias[column]);
        out[at] = v;
    }
}
