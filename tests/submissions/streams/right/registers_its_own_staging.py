"""Staging memory is NumPy's own, page-locked by registering it, and filled with np.copyto. Views of the arrays come by
reshape, ravel and from the last element backwards to the first.
"""

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 24


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source, self.target = source.reshape(1, N)[0], target.ravel()
        self.floats = min(CHUNK, N)
        self.staging = cuda.register_host_memory(np.empty(self.floats, np.float32))
        self.device = cuda.mem_alloc(4 * self.floats)
        self.stream = cuda.Stream()

    def run(self):
        for first in reversed(range(0, self.N, self.floats)):
            count = min(self.floats, self.N - first)
            np.copyto(self.staging[:count], self.source[first : first + count])
            cuda.memcpy_htod_async(self.device, self.staging[:count], self.stream)
            shape = {"grid": (-(-count // THREADS), 1), "block": (THREADS, 1, 1), "stream": self.stream}
            self.process(self.device, self.device, np.int32(count), self.R, **shape)
            cuda.memcpy_dtoh_async(self.staging[:count], self.device, self.stream)
            self.stream.synchronize()
            np.copyto(src=self.staging[:count], dst=self.target[first : first + count])
