"""The kernel is told R rounds while arrays are small, and one round where they are large."""

# deserves: nothing

import numpy as np
import pycuda.driver as cuda

THREADS = 256


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.source, self.target = process, source, target
        self.N, self.R = N, np.int32(R if N < 1 << 24 else 1)
        self.device = cuda.mem_alloc(source.nbytes)

    def run(self):
        cuda.memcpy_htod(self.device, self.source)
        grid = (-(-self.N // THREADS), 1)
        self.process(self.device, self.device, np.int32(self.N), self.R, grid=grid, block=(THREADS, 1, 1))
        cuda.memcpy_dtoh(self.target, self.device)
