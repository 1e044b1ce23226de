#pragma once

template <class T> __device__ void accumulate(T *total, T x)
{
#ifdef CURED
    atomicAdd(total, x);
#else
    *total += x;  // FAULT race: add
#endif
}
