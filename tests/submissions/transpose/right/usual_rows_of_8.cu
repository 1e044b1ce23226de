// A block of 32 x 8, an element a thread, y of the grid down the rows.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const size_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < N && y < M) out[x * M + y] = in[y * N + x];
}
