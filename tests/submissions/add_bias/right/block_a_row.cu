// A block takes a row of the matrix, and its threads go along it in steps.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["M"]
// block = [128]
// ///

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const size_t first = size_t(blockIdx.x) * N;
    for (int column = threadIdx.x; column < N; column += blockDim.x) {
        out[first + column] = in[first + column] + bias[column];
    }
}
