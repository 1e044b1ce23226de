"""The host looks at a chunk before its copy is complete."""

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 23  # floats: 32 MiB, long enough that the fixed cost of a copy does not show


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process = process
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.N, self.R = N, np.int32(R)
        self.stream = cuda.Stream()
        floats = min(CHUNK, N)
        self.device_in = cuda.mem_alloc(4 * floats)
        self.device_out = cuda.mem_alloc(4 * floats)

    def run(self):
        for first in range(0, self.N, CHUNK):
            count = min(CHUNK, self.N - first)  # the last chunk may be shorter
            part = slice(first, first + count)
            cuda.memcpy_htod_async(self.device_in, self.source[part], self.stream)
            self.process(
                self.device_in,
                self.device_out,
                np.int32(count),
                self.R,
                grid=(-(-count // THREADS), 1),
                block=(THREADS, 1, 1),
                stream=self.stream,
            )
            cuda.memcpy_dtoh_async(self.target[part], self.device_out, self.stream)
            self.largest = max(getattr(self, "largest", 0.0), float(self.target[part].max()))
        self.stream.synchronize()
