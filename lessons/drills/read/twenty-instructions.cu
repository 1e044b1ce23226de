extern "C" __global__ void quotients(unsigned* x, unsigned d)
{
    x[threadIdx.x] = x[threadIdx.x] / d;
}
