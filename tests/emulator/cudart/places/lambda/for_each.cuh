#pragma once

template <class F> __device__ void for_each(int n, F f)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        f(i);  // CALL: scaled
}
