"""Two streams, page-locked memory, events, a prepared call, shared memory, a constant table."""

import numpy as np
import pycuda.driver as drv
from pycuda.compiler import SourceModule

drv.init()
context = drv.Device(0).make_context()

mod = SourceModule("""
#include <stdint.h>

__constant__ float weights[3];

__global__ void blur(float *out, const float *in, int32_t n)
{
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int t = threadIdx.x + 1;
    tile[t] = i < n ? in[i] : 0.0f;
    if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0.0f;
    if (threadIdx.x == blockDim.x - 1) tile[t + 1] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = weights[0] * tile[t - 1] + weights[1] * tile[t] + weights[2] * tile[t + 1];
}
""")
blur = mod.get_function("blur").prepare("PPi")
weights = np.array([0.25, 0.5, 0.25], np.float32)
drv.memcpy_htod(mod.get_global("weights")[0], weights)

n, threads = 1000, 128
grid, block = ((n + threads - 1) // threads, 1), (threads, 1, 1)
streams = [drv.Stream(), drv.Stream()]
jobs = []
for stream in streams:
    source = drv.pagelocked_empty(n, np.float32)
    source[:] = np.random.rand(n)
    result = drv.pagelocked_empty_like(source)
    d_source, d_result = drv.mem_alloc(source.nbytes), drv.mem_alloc(result.nbytes)
    start, end = drv.Event(), drv.Event()
    start.record(stream)
    drv.memcpy_htod_async(d_source, source, stream)
    blur.prepared_async_call(grid, block, stream, d_result, d_source, n, shared_size=4 * (threads + 2))
    drv.memcpy_dtoh_async(result, d_result, stream)
    end.record(stream)
    jobs.append((stream, source, result, start, end))

for stream, source, result, start, end in jobs:
    stream.synchronize()
    padded = np.pad(source, 1)
    expected = weights[0] * padded[:-2] + weights[1] * padded[1:-1] + weights[2] * padded[2:]
    print("blurred", np.allclose(result, expected), "taking time", end.time_since(start) > 0)

context.pop()
