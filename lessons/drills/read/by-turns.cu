extern "C" __global__ void branch(float* x)
{
    float v = x[threadIdx.x];
    if (threadIdx.x % 2) {
        #pragma unroll 1
        for (int k = 0; k < 100; ++k) {
            v = v * v + 0.5f;
        }
    }
    x[threadIdx.x] = v + 1.0f;
}
