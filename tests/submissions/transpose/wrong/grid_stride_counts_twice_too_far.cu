// The stride of the loop is the number of blocks times twice the block: every second part stays
// unwritten where there are more elements than threads.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["8 * SMS"]
// block = [256]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < size_t(M) * N; i += size_t(gridDim.x) * 512)
        out[i] = in[i % M * N + i / M];
}
