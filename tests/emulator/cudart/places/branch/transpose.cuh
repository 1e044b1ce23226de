#pragma once
#include "layout.cuh"

template <bool PADDED> __global__ void transpose(const float *in, float *out)
{
    using Tile = Layout<PADDED>;
    __shared__ float tile[Tile::SIZE];
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        Tile::put(tile, y, x, in[y * 32 + x]);  // CALL: transpose<true>
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        out[y * 32 + x] = Tile::get(tile, x, y);
}
