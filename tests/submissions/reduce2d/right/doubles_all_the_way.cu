// One thread a row, one thread a column, both in double precision, in one launch: the first blocks
// take rows.
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
    const float* at = in + (row_wise ? size_t(own) * N : size_t(own));
    double sum = 0.0;
    for (int left = row_wise ? N : M; left > 0; --left, at += row_wise ? 1 : N) sum += *at;
    (row_wise ? rows : cols)[own] = float(sum);
}
