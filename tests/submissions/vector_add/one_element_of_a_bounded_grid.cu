// As many blocks as the GPU can hold at a time, 8 for each multiprocessor.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["min(SMS * BLOCKS_PER_SM, cdiv(N, BLOCK))"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int BLOCKS_PER_SM = 8;

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) {
        c[i] = a[i] + b[i];
    }
}
