"""Adds two vectors on the GPU: c = a + b, for as many elements as the script's argument says."""

import sys

import numpy as np
import pycuda.autoinit  # noqa: F401 - makes a context on the first GPU, and ends it with the script
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

# --- Errors
# Nothing to write: PyCUDA looks at what every call
# returns, and raises cuda.Error if it is no success.

# --- Kernel
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

# --- Data
n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
a = np.arange(n, dtype=np.float32)
b = 2 * a
c = np.empty_like(a)

# --- Allocate
d_a = cuda.mem_alloc(a.nbytes)
d_b = cuda.mem_alloc(b.nbytes)
d_c = cuda.mem_alloc(c.nbytes)

# --- Copy in
cuda.memcpy_htod(d_a, a)
cuda.memcpy_htod(d_b, b)

# --- Events
start = cuda.Event()
stop = cuda.Event()

# --- Launch
block = 256
grid = (n + block - 1) // block
start.record()
vector_add(d_a, d_b, d_c, np.int32(n),
           grid=(grid, 1), block=(block, 1, 1))
stop.record()

# --- Wait
stop.synchronize()
ms = start.time_till(stop)

# --- Copy back
cuda.memcpy_dtoh(c, d_c)
print(f"c[{n - 1}] = {c[n - 1]:g}")
print(f"{ms:g} ms")

# --- Clean up
d_a.free()
d_b.free()
d_c.free()
