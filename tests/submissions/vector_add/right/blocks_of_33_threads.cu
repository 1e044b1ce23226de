// Each block is a warp and one thread of another.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 33)"]
// block = [33]
// ///

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * 33 + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}
