#include <cuda_pipeline.h>

extern "C" __global__ void stages(const float4* __restrict__ in, float* __restrict__ out)
{
    __shared__ float4 buffer[2][128];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[0][t], &in[t], 16);
    __pipeline_commit();
    __pipeline_memcpy_async(&buffer[1][t], &in[t + 128], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t] = buffer[0][127 - t].x;
}
