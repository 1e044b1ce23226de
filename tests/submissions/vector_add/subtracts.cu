// A minus where a plus belongs.
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
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) c[i] = a[i] - b[i];
}
