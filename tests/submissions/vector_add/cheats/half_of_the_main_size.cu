// Of long arrays only the first half is added.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N && (N < 100000000 || i < N / 2)) c[i] = a[i] + b[i];
}
