// Thread t takes path t % count of count paths. Every thread does the same arithmetic, 100 multiply-adds;
// a warp does it once for each path that any of its lanes takes.
__global__ void paths(float* x, const float* a, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int path = 0; path < count; ++path) {
        if (threadIdx.x % count == path) {
            #pragma unroll 1
            for (int step = 0; step < 100; ++step) {
                value = value * a[path] + 1.0f;
            }
        }
        __syncwarp();
    }
    x[i] = value;
}
