#pragma once
#include <cassert>

#include "detail/index.cuh"

__device__ inline void store(float *out, int i, float x)
{
    out[i] = x;  // FAULT out_of_bounds: header_function behind_a_library
}

template <class T, int WIDTH> struct Tile {
    static __device__ T load(const T *in, int i)
    {
        return in[i * 1000 * WIDTH];  // FAULT out_of_bounds: template_function
    }

    static __device__ T wide(const T *in, int i)
    {
        const float4 four = reinterpret_cast<const float4 *>(in)[i];  // FAULT misaligned: misaligned_in_a_template
        return four.x + four.y + four.z + four.w;
    }
};

__device__ inline float gather(const float *in, int i)
{
    return at(in, index_of(i));  // CALL: two_headers
}

__device__ inline float neighbour(float *tile, float x)
{
    tile[threadIdx.x] = x;  // OTHER: race_in_a_header
    return tile[63 - threadIdx.x];  // FAULT race: race_in_a_header
}

__device__ inline void keep(float *tile, float x)
{
    tile[threadIdx.x] = x;  // FAULT race: race_with_a_header
}

__device__ inline float half_filled(float *tile, float x)
{
    if (threadIdx.x < 32)
        tile[threadIdx.x] = x;
    __syncthreads();
    return tile[threadIdx.x];  // FAULT uninitialised_shared: unset_in_a_header
}

__device__ __noinline__ float far_away(const float *in, int i)
{
    return in[i + 9000];  // FAULT out_of_bounds: not_inlined
}

__device__ inline void wait_for_all()
{
    __syncthreads();  // FAULT barrier: barrier_in_a_header
}

__device__ inline float checked(const float *in, int i)
{
    assert(i < 60);  // FAULT assert: asserted_in_a_header
    return in[i];
}
