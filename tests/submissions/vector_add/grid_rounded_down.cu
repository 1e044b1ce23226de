// The number of blocks is rounded down: what does not fill a block is left out.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["max(N // 256, 1)"]
// block = [256]
// ///

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}
