#pragma once

template <class T> __device__ void store(T *at, T value)
{
    *at = value;  // FAULT use_after_free: fill
}

template <class T> __global__ void fill(T *out, int n, T value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        store(out + i, value);  // CALL: fill
}

template <class T> void fill_with(T *out, int n, T value)
{
    fill<<<(n + 127) / 128, 128>>>(out, n, value);  // LAUNCH: fill
}
