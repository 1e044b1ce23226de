// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["min(cdiv(M * N, BLOCK), SMS * 8)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const size_t elements = size_t(M) * N;
    const size_t stride = size_t(gridDim.x) * BLOCK;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < elements; i += stride) {
        const int column = i % M;  //!
        out[i] = in[i] + bias[column];
    }
}
