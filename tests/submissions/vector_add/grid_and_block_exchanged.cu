// The number of blocks stands in `block`, the threads of a block in `grid`.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = [256]
// block = ["cdiv(N, 256)"]
// ///
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}
