// Two steps in one kernel: each thread copies its element of a, and then adds b to the element at the
// other end, which another thread copies. No thread waits for another.
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
    if (i < N) {
        c[i] = a[i];
        c[N - 1 - i] += b[N - 1 - i];
    }
}
