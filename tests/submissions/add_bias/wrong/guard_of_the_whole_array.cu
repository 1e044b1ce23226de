// The guard asks whether the element lies in the array, and not whether its column lies in the row:
// a thread to the right of the matrix reads beyond the biases, and writes into the next row.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    const size_t i = size_t(row) * N + column;
    if (i < size_t(M) * N) out[i] = in[i] + bias[column];
}
