// A float holds not every whole number above 2^24.
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
    float offset = blockIdx.x * BLOCK;
    int i = offset + threadIdx.x;
    if (i < N) {
        c[i] = a[i] + b[i];
    }
}
