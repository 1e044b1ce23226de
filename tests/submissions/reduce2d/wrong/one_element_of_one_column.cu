// The last element of the last column is left out where there are more than 1200 columns.
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
    const int length = row_wise ? N : M - (own == N - 1 && N > 1200);
    float sum = 0.0f;
    for (int i = 0; i < length; ++i) sum += in[row_wise ? size_t(own) * N + i : size_t(i) * N + own];
    (row_wise ? rows : cols)[own] = sum;
}
