// A grid-stride loop with an int: at the largest size the step behind the last element is more than an int counts.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;

    while (index < N) {
        c[index] = a[index] + b[index];
        index += blockDim.x * gridDim.x;
    }
}
