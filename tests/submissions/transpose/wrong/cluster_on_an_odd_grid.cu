// Blocks are to come in clusters of two, and the grid is odd for most sizes: such a launch fails.
//
// reason: launch failed
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M * N, 128)"]
// block = [128]
// ///

extern "C" __global__ void __cluster_dims__(2, 1, 1) transpose(const float* in, float* out, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 128 + threadIdx.x;
    if (i < size_t(M) * N) out[i] = in[i % M * N + i / M];
}
