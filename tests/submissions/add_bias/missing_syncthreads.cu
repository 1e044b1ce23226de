// The biases of a block are fetched into shared memory by one of its warps, and the others do not wait for it.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32)", "cdiv(M, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    __shared__ float shift[32];
    const int column = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.y == 0 && column < N) shift[threadIdx.x] = bias[column];
    if (column >= N) return;
    for (int row = blockIdx.y * 32 + threadIdx.y; row < min(M, int(blockIdx.y + 1) * 32); row += 8) {
        out[size_t(row) * N + column] = in[size_t(row) * N + column] + shift[threadIdx.x];
    }
}
