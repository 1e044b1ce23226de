"""Copy everything in, launch, copy everything out, from ordinary memory and with calls that wait.

What it costs: the three steps follow each other, so that two of the device's three engines always stand still.
And ordinary memory is pageable: the operating system may move it while the GPU reads, so the driver copies it
through a small buffer of its own, at a fraction of what the link can do.
"""

import numpy as np
import pycuda.driver as cuda

THREADS = 256


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.source, self.target = process, source, target
        self.N, self.R = np.int32(N), np.int32(R)
        self.device_in = cuda.mem_alloc(source.nbytes)
        self.device_out = cuda.mem_alloc(target.nbytes)

    def run(self):
        cuda.memcpy_htod(self.device_in, self.source)
        grid = (-(-int(self.N) // THREADS), 1)
        self.process(self.device_in, self.device_out, self.N, self.R, grid=grid, block=(THREADS, 1, 1))
        cuda.memcpy_dtoh(self.target, self.device_out)
