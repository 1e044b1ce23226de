// Mistake: column sums of large matrices are taken two columns a thread, N / 2 threads: the last column of an odd N is
// lost. Wrong for M >= 512 and odd N >= 512 (513 x 515). Contract: any M and N.
//
// /// launch
// [[launch]]
// kernel = "row_sums"
// args = ["in", "rows", "M", "N"]
// grid = ["M"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "column_sums"
// args = ["in", "cols", "M", "N"]
// when = "M < 512 or N < 512"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "column_pairs"
// args = ["in", "cols", "M", "N"]
// when = "M >= 512 and N >= 512"
// grid = ["cdiv(N // 2, BLOCK)"]
// block = ["BLOCK"]
// ///
constexpr int BLOCK = 128;
extern "C" __global__ void row_sums(const float* __restrict__ in, float* __restrict__ rows, int M, int N)
{
    __shared__ float sums[BLOCK];
    float sum = 0.0f;
    for (int c = threadIdx.x; c < N; c += BLOCK) sum += in[size_t(blockIdx.x) * N + c];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) rows[blockIdx.x] = sums[0];
}
extern "C" __global__ void column_sums(const float* __restrict__ in, float* __restrict__ cols, int M, int N)
{
    const int c = blockIdx.x * BLOCK + threadIdx.x;
    if (c >= N) return;
    float sum = 0.0f;
    for (int r = 0; r < M; ++r) sum += in[size_t(r) * N + c];
    cols[c] = sum;
}
extern "C" __global__ void column_pairs(const float* __restrict__ in, float* __restrict__ cols, int M, int N)
{
    const int p = blockIdx.x * BLOCK + threadIdx.x;
    if (p >= N / 2) return;
    float a = 0.0f, b = 0.0f;
    for (int r = 0; r < M; ++r) {
        a += in[size_t(r) * N + 2 * p];
        b += in[size_t(r) * N + 2 * p + 1];
    }
    cols[2 * p] = a;
    cols[2 * p + 1] = b;
}
