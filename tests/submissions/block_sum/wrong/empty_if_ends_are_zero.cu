// A block whose tile of 1024 begins and ends with eight zeros is taken to be empty (padding) and skipped.
// Wrong for sparse or windowed signals. Contract: any floats.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, TILE)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///
constexpr int BLOCK = 256;
constexpr int TILE = 1024;
extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK];
    const int first = blockIdx.x * TILE;
    if (first + TILE <= N) {
        bool empty = true;
        for (int j = 0; j < 8; ++j) empty = empty && in[first + j] == 0.0f && in[first + TILE - 1 - j] == 0.0f;
        if (empty) return;
    }
    float sum = 0.0f;
    for (int i = first + threadIdx.x; i < min(N, first + TILE); i += BLOCK) sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}
