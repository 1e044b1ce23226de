// 37 blocks of 96 threads walk over all elements, whatever their number.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = [37]
// block = [96]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const size_t count = size_t(M) * N;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        out[i] = in[i % M * N + i / M];
}
