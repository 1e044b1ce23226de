// c = a + b, with the numbers of the block, of its threads and of the thread multiplied by each other.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * blockDim.x * threadIdx.x;
    if (i < N) {
        c[i] = a[i] + b[i];
    }
}
