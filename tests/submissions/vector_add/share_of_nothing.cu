// A thread's share is rounded down, and is nothing where there are fewer numbers than threads in a block.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    int start = (blockIdx.x * BLOCK + threadIdx.x) * (N / BLOCK);
    for (int i = start; i < start + N / BLOCK; i++) if (i < N) c[i] = a[i] + b[i];
}
