// From element 65536 on, the index begins at 0 again.
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
    const unsigned short idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N) return;
    c[idx] = a[idx] + b[idx];
}
