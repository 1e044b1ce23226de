"""Mistake: chunks that are all zeros are not sent, and nothing is written to target: wrong for source = zeros. The
contract: any floats."""
# reason: the same for all data of a size

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 22


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process = process
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.N, self.R = N, np.int32(R)
        self.stream = cuda.Stream()
        self.buffer = cuda.mem_alloc(4 * min(CHUNK, N))

    def run(self):
        for first in range(0, self.N, CHUNK):
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)
            if not self.source[first] and not np.any(self.source[part]):
                continue
            cuda.memcpy_htod_async(self.buffer, self.source[part], self.stream)
            self.process(
                self.buffer,
                self.buffer,
                np.int32(count),
                self.R,
                grid=(-(-count // THREADS), 1),
                block=(THREADS, 1, 1),
                stream=self.stream,
            )
            cuda.memcpy_dtoh_async(self.target[part], self.buffer, self.stream)
        self.stream.synchronize()
