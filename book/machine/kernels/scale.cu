// Each thread multiplies one element of x by a. There may be more threads than elements.
__global__ void scale(float* x, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = a * x[i];
    }
}
