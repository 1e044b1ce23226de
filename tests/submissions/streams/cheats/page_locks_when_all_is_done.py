"""The arrays are page-locked as the last thing that run() does: too late for any copy."""

# deserves: 00_naive
# reason: page-locked in run\(\)

import numpy as np
import pycuda.driver as cuda

THREADS = 256


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.source, self.target = process, source, target
        self.N, self.R = N, np.int32(R)
        self.device = cuda.mem_alloc(source.nbytes)

    def run(self):
        cuda.memcpy_htod(self.device, self.source)
        grid = (-(-self.N // THREADS), 1)
        self.process(self.device, self.device, np.int32(self.N), self.R, grid=grid, block=(THREADS, 1, 1))
        cuda.memcpy_dtoh(self.target, self.device)
        for array in (self.source, self.target):
            cuda.register_host_memory(array)
