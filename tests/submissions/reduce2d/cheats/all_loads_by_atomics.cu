// One thread a row and one a column, as the naive kernel has it, and every load is atomicAdd(p,
// 0.0f).
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "reduce2d"
// grid = ["cdiv(M, 64) + cdiv(N, 64)"]
// block = [64]
// ///

extern "C" __global__ void reduce2d(const float* in, float* rows, float* cols, int M, int N)
{
    const unsigned of_rows = (M + 63) / 64;
    const bool row_wise = blockIdx.x < of_rows;
    const int own = (row_wise ? blockIdx.x : blockIdx.x - of_rows) * 64 + threadIdx.x;
    if (own >= (row_wise ? M : N)) return;
    float sum = 0.0f;
    for (int i = 0; i < (row_wise ? N : M); ++i) {
        const size_t place = row_wise ? size_t(own) * N + i : size_t(i) * N + own;
        sum += __uint_as_float(atomicOr((unsigned*)&in[place], 0u));
    }
    (row_wise ? rows : cols)[own] = sum;
}
