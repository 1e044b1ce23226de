// Columns are counted in unsigned short.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int across = (N + 31) / 32;
    const unsigned short column = blockIdx.x % across * 32 + threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) {
        const int row = blockIdx.x / across * 32 + y;
        if (row < M && column < N) out[size_t(column) * M + row] = in[size_t(row) * N + column];
    }
}
