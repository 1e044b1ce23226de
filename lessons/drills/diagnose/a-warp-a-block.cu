// A block of 32 threads adds 32 elements: no thread waits for one of
// another warp.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 32;

// c[i] = a[i] + b[i]; all have N elements.
extern "C" __global__ void vector_add(const float* __restrict__ a,
                                      const float* __restrict__ b,
                                      float* __restrict__ c, int N)
{
    const long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) {
        c[i] = a[i] + b[i];
    }
}
