extern "C" __global__ void halve(float* x)
{
    x[threadIdx.x] = 0.1 * x[threadIdx.x];
}
