"""Mistake: two streams, with a buffer each; where R is from 64 to 999 (the kernel takes as long as the copy) both
use the first one without waiting: a race. Wrong for R = 200, N of several chunks. The contract: any R."""

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 22


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, R
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.streams = [cuda.Stream(), cuda.Stream()]
        self.buffers = [cuda.mem_alloc(4 * min(N, CHUNK)) for _ in range(2)]

    def run(self):
        shared = 64 <= self.R < 1000
        for number, first in enumerate(range(0, self.N, CHUNK)):
            end = min(first + CHUNK, self.N)
            stream = self.streams[number % 2]
            buffer = self.buffers[0 if shared else number % 2]
            cuda.memcpy_htod_async(buffer, self.source[first:end], stream)
            self.process(
                buffer,
                buffer,
                np.int32(end - first),
                np.int32(self.R),
                grid=(-(-(end - first) // THREADS), 1),
                block=(THREADS, 1, 1),
                stream=stream,
            )
            cuda.memcpy_dtoh_async(self.target[first:end], buffer, stream)
        for stream in self.streams:
            stream.synchronize()
