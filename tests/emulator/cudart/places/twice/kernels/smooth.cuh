#pragma once
#include "exchange.cuh"

__global__ void smooth(const float *in, float *out)
{
    __shared__ float tile[128];
    const float x = in[threadIdx.x];
    const float y = x + right_of(tile, x);  // OTHER CALL: smooth
    out[threadIdx.x] = y + right_of(tile, y);  // CALL: smooth
}
