// Each lane looks up its own word of constant memory: 32 passes, and one load for the counters.
//
// deserves: 01_x_along_rows
//
// /// launch
// [[launch]]
// kernel = "add_bias<true>"
// when = "N <= 16384"
// constant = { table = "bias" }
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "add_bias<false>"
// when = "N > 16384"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///

__constant__ float table[16384];

template <bool CONSTANT>
__global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row < M && column < N) out[size_t(row) * N + column] = in[size_t(row) * N + column] + (CONSTANT ? table[column] : bias[column]);
}
