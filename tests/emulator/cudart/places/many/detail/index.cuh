#pragma once

__device__ inline int index_of(int i)
{
    return 8000 + i;
}

__device__ inline float at(const float *in, int i)
{
    return in[i];  // FAULT out_of_bounds: two_headers
}
