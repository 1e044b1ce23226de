// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 2 * BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b,
                                      float* __restrict__ c, int N)
{
    const size_t first = size_t(blockIdx.x) * (2 * BLOCK);
    const size_t i = first + threadIdx.x;
    if (i >= N) {  //!
        return;
    }
    c[i] = a[i] + b[i];
    c[i + BLOCK] = a[i + BLOCK] + b[i + BLOCK];  //!
}
