// A block of 256 threads adds 1024 elements, four a thread, all of
// whose loads are under way at once.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, BLOCK * EACH)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int EACH = 4;  // elements a thread

// c[i] = a[i] + b[i]; all have N elements.
extern "C" __global__ void vector_add(const float* __restrict__ a,
                                      const float* __restrict__ b,
                                      float* __restrict__ c, int N)
{
    const long long first =
        (long long)blockIdx.x * BLOCK * EACH + threadIdx.x;
    float sum[EACH];
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const long long i = first + k * BLOCK;
        sum[k] = i < N ? a[i] + b[i] : 0.0f;
    }
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const long long i = first + k * BLOCK;
        if (i < N) {
            c[i] = sum[k];
        }
    }
}
