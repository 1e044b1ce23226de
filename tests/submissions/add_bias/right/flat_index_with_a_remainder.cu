// The matrix as one long array: the column is what is left of the index when whole rows are taken away.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < size_t(M) * N) out[i] = in[i] + bias[i % N];
}
