"""The grid ends at 65535 blocks, which is enough for sixteen million elements."""

import numpy as np
import pycuda.driver as cuda

THREADS = 256


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.source, self.target, self.N, self.R = process, source, target, N, np.int32(R)
        self.device = cuda.mem_alloc(source.nbytes)

    def run(self):
        cuda.memcpy_htod(self.device, self.source)
        grid = (min(-(-self.N // THREADS), 65535), 1)
        self.process(self.device, self.device, np.int32(self.N), self.R, grid=grid, block=(THREADS, 1, 1))
        cuda.memcpy_dtoh(self.target, self.device)
