// Mistake: in is read as float4s. The end of a row is minded, its start is not: where N is not a
// multiple of 4, rows do not start at multiples of 16 bytes.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, 4 * BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int BLOCK = 16;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = 4 * (blockIdx.x * BLOCK + threadIdx.x);
    if (row >= M || column >= N) {
        return;
    }
    if (column + 4 <= N) {
        const float4 four = *reinterpret_cast<const float4*>(&in[row * N + column]);
        out[(column + 0) * M + row] = four.x;
        out[(column + 1) * M + row] = four.y;
        out[(column + 2) * M + row] = four.z;
        out[(column + 3) * M + row] = four.w;
        return;
    }
    for (int j = column; j < N; ++j) {
        out[j * M + row] = in[row * N + j];
    }
}
