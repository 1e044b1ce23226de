// Mistake: column sums of bands of 112 rows; the last band has M % 112 of them, which is none where M is a multiple of 112:
// its rows do not count. The contract: any M.
//
// /// launch
// [[launch]]
// kernel = "row_sums"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "column_sums"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(M, 112)", "cdiv(N, 128)"]
// block = [128]
// zero = ["cols"]
// ///

__device__ float warp_sum(float value)
{
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffff, value, d);
    return value;
}

extern "C" __global__ void row_sums(const float* __restrict__ in, float* __restrict__ rows, int M, int N)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < N; c += 32) sum += in[size_t(row) * N + c];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) rows[row] = sum;
}
extern "C" __global__ void column_sums(const float* __restrict__ in, float* __restrict__ cols, int M, int N)
{
    const int c = blockIdx.y * 128 + threadIdx.x;
    if (c >= N) return;
    const int count = blockIdx.x == gridDim.x - 1 ? M % 112 : 112;
    float sum = 0.0f;
    for (int r = 0; r < count; ++r) sum += in[(size_t(blockIdx.x) * 112 + r) * N + c];
    atomicAdd(&cols[c], sum);
}
