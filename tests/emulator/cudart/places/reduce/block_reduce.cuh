#pragma once
#include "warp_reduce.cuh"

template <int THREADS> struct BlockReduce {
    static constexpr int WARPS = THREADS / 32;

    static __device__ float sum(float x)
    {
        __shared__ float of_warp[32];
        const int lane = threadIdx.x % 32;
        x = warp_sum(x);
        if (lane == 0)
            of_warp[threadIdx.x / 32] = x;
        __syncthreads();
#ifdef CURED
        return warp_sum(lane < WARPS ? of_warp[lane] : 0.0f);
#else
        return warp_sum(of_warp[lane]);  // FAULT uninitialised_shared: sum
#endif
    }
};
