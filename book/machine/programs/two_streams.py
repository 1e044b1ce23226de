"""Adds two vectors in two halves, each in a stream of its own: one half is copied while the other is computed."""

import sys

import numpy as np
import pycuda.autoinit  # noqa: F401 - makes a context on the first GPU, and ends it with the script
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void vector_add(const float *a, const float *b,
                           float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
""")
vector_add = module.get_function("vector_add")
n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000

# --- Page-locked memory
a, b, c = (cuda.pagelocked_empty(n, np.float32)
           for _ in range(3))
a[:] = np.arange(n)
b[:] = 2 * a

d_a, d_b, d_c = (cuda.mem_alloc(a.nbytes) for _ in range(3))

# --- Two streams
streams = [cuda.Stream(), cuda.Stream()]

# --- Enqueue
half = (n + 1) // 2
for part, stream in enumerate(streams):
    first = part * half
    count = n - half if part else half
    here = slice(first, first + count)
    at_a, at_b, at_c = (int(d) + 4 * first
                        for d in (d_a, d_b, d_c))
    cuda.memcpy_htod_async(at_a, a[here], stream)
    cuda.memcpy_htod_async(at_b, b[here], stream)
    vector_add(np.intp(at_a), np.intp(at_b), np.intp(at_c),
               np.int32(count),
               grid=((count + 255) // 256, 1),
               block=(256, 1, 1), stream=stream)
    cuda.memcpy_dtoh_async(c[here], at_c, stream)

# --- Wait for both
for stream in streams:
    stream.synchronize()
print(f"c[{n - 1}] = {c[n - 1]:g}")

# --- Clean up
for d in (d_a, d_b, d_c):
    d.free()
