// A block of 16 × 16 threads, numbered as the hardware numbers them: x runs fastest.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = [16, 16]
// ///

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.y * 16 + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}
