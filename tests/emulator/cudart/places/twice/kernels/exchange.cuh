#pragma once

// What the thread to the right has.
__device__ inline float right_of(float *tile, float x)
{
#ifdef CURED
    __syncthreads();
#endif
    tile[threadIdx.x] = x;  // FAULT race: smooth
    __syncthreads();
    return tile[(threadIdx.x + 1) % blockDim.x];  // OTHER: smooth
}
