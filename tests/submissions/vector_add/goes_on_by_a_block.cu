// Threads go on by a block, and not by all threads of the grid.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["min(cdiv(N, BLOCK), GRID)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int GRID = 32;

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int stride = blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        c[i] = a[i] + b[i];
    }
}
