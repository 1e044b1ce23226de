// A device function halves the longer side of a tile again and again, down to single elements.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(cdiv(M, SIDE) * cdiv(N, SIDE), 64)"]
// block = [64]
// ///

constexpr int SIDE = 16;
// Cache-oblivious: a piece is cut in the middle of its longer side.
__device__ __noinline__ void turn(const float* in, float* out, int M, int N, int row, int column, int height,
                                  int width)
{
    if (height * width <= 4) {
        for (int r = row; r < row + height; ++r)
            for (int c = column; c < column + width; ++c)
                out[size_t(c) * M + r] = in[size_t(r) * N + c];
    } else if (height >= width) {
        turn(in, out, M, N, row, column, height / 2, width);
        turn(in, out, M, N, row + height / 2, column, height - height / 2, width);
    } else {
        turn(in, out, M, N, row, column, height, width / 2);
        turn(in, out, M, N, row, column + width / 2, height, width - width / 2);
    }
}
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    const int across = (N + SIDE - 1) / SIDE;
    const int piece = blockIdx.x * 64 + threadIdx.x;
    const int row = piece / across * SIDE, column = piece % across * SIDE;
    if (row < M)
        turn(in, out, M, N, row, column, min(SIDE, M - row), min(SIDE, N - column));
}
