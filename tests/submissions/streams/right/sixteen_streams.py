"""As many streams as chunks, sixteen of them, whatever the size of the arrays."""

import numpy as np
import pycuda.driver as cuda

THREADS = 256
STREAMS = 16


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.chunk = -(-N // STREAMS)
        self.streams = [cuda.Stream() for _ in range(STREAMS)]
        self.buffers = [cuda.mem_alloc(4 * self.chunk) for _ in range(STREAMS)]

    def run(self):
        for stream, buffer, first in zip(
            self.streams, self.buffers, range(0, self.N, self.chunk), strict=False
        ):
            part = self.source[first : first + self.chunk]
            cuda.memcpy_htod_async(buffer, part, stream)
            count = len(part)
            grid = (-(-count // THREADS), 1)
            self.process(
                buffer, buffer, np.int32(count), self.R, grid=grid, block=(THREADS, 1, 1), stream=stream
            )
            cuda.memcpy_dtoh_async(self.target[first : first + count], buffer, stream)
        for stream in reversed(self.streams):
            stream.synchronize()
