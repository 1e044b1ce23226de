#pragma once

template <class T, class F> __global__ void transform(const T *in, T *out, int n, F f)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = f(in, i);  // CALL: transform
}

template <class T, class F> void launch_transform(const T *in, T *out, int n, F f)
{
    transform<<<(n + 255) / 256, 256>>>(in, out, n, f);  // LAUNCH: transform
}
