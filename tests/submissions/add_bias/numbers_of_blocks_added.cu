// The bias added to each row, with the number of the block added to that of the thread, in both directions.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x + threadIdx.x;
    const int row = blockIdx.y + threadIdx.y;
    if (row < M && column < N) {
        out[static_cast<long long>(row) * N + column] = in[static_cast<long long>(row) * N + column] + bias[column];
    }
}
