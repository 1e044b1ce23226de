// Blocks of a single thread, each with 32 elements of a row: legal, and slow.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, 32)", "min(M, 65535)"]
// block = [1]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    for (size_t row = blockIdx.y; row < M; row += gridDim.y)
        for (size_t column = blockIdx.x * 32; column < min(N, (blockIdx.x + 1) * 32); ++column)
            out[column * M + row] = in[row * N + column];
}
