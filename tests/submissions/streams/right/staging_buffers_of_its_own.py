"""The arrays stay pageable: chunks go through page-locked buffers of the schedule's own, which the
host fills and empties.
"""

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 24


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.source, self.target, self.N, self.R = process, source, target, N, np.int32(R)
        self.staged = cuda.pagelocked_empty(min(CHUNK, N), np.float32)
        self.device = cuda.mem_alloc(self.staged.nbytes)
        self.stream = cuda.Stream()

    def run(self):
        for first in range(0, self.N, CHUNK):
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)
            self.staged[:count] = self.source[part]
            cuda.memcpy_htod_async(self.device, self.staged[:count], self.stream)
            grid = (-(-count // THREADS), 1)
            self.process(
                self.device,
                self.device,
                np.int32(count),
                self.R,
                grid=grid,
                block=(THREADS, 1, 1),
                stream=self.stream,
            )
            cuda.memcpy_dtoh_async(self.staged[:count], self.device, self.stream)
            self.stream.synchronize()
            self.target[part] = self.staged[:count]
