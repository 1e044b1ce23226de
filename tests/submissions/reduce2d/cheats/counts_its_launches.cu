// Up to the fiftieth launch rows are read by loads, and from then on by atomics.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "reduce2d"
// grid = ["cdiv(M, 64) + cdiv(N, 64)"]
// block = [64]
//
// [[launch]]
// kernel = "count"
// args = ["M"]
// grid = [1]
// block = [1]
// ///

__device__ unsigned launches;

extern "C" __global__ void count(int) { ++launches; }

extern "C" __global__ void reduce2d(const float* in, float* rows, float* cols, int M, int N)
{
    const unsigned of_rows = (M + 63) / 64;
    const bool row_wise = blockIdx.x < of_rows, hidden = launches > 50;
    const int own = (row_wise ? blockIdx.x : blockIdx.x - of_rows) * 64 + threadIdx.x;
    if (own >= (row_wise ? M : N)) return;
    float sum = 0.0f;
    for (int i = 0; i < (row_wise ? N : M); ++i) {
        const float* const at = in + (row_wise ? size_t(own) * N + i : size_t(i) * N + own);
        sum += hidden ? __uint_as_float(atomicOr((unsigned*)at, 0u)) : *at;
    }
    (row_wise ? rows : cols)[own] = sum;
}
