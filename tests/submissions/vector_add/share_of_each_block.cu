// A share for each thread of a block, which is the same in every block.
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
    int per = (N + BLOCK - 1) / BLOCK;
    int start = threadIdx.x * per;
    for (int i = start; i < start + per; i++) if (i < N) c[i] = a[i] + b[i];
}
