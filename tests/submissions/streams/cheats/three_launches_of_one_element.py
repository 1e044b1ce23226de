"""Four launches are asked for where chunks are taught: one takes all but three elements, and three
take one each.
"""

# deserves: 01_pinned

import numpy as np
import pycuda.driver as cuda

THREADS = 256


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.R = process, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.device = cuda.mem_alloc(source.nbytes)
        self.stream = cuda.Stream()
        large = max(N - 3, 1)
        self.parts = [(0, large), *((i, i + 1) for i in range(large, N))]

    def run(self):
        for first, end in self.parts:
            place = np.uintp(int(self.device) + 4 * first)
            cuda.memcpy_htod_async(int(place), self.source[first:end], self.stream)
            count = end - first
            shape = {"grid": (-(-count // THREADS), 1), "block": (THREADS, 1, 1), "stream": self.stream}
            self.process(place, place, np.int32(count), self.R, **shape)
            cuda.memcpy_dtoh_async(self.target[first:end], int(place), self.stream)
        self.stream.synchronize()
