"""The event that the second stream waits for is recorded before the copy that it is to wait for."""

import numpy as np
import pycuda.driver as cuda

THREADS = 256


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.device = cuda.mem_alloc(source.nbytes)
        self.copies, self.kernels = cuda.Stream(), cuda.Stream()
        self.filled = cuda.Event()

    def run(self):
        self.filled.record(self.copies)
        cuda.memcpy_htod_async(self.device, self.source, self.copies)
        self.kernels.wait_for_event(self.filled)
        shape = {"grid": (-(-self.N // THREADS), 1), "block": (THREADS, 1, 1), "stream": self.kernels}
        self.process(self.device, self.device, np.int32(self.N), self.R, **shape)
        cuda.memcpy_dtoh_async(self.target, self.device, self.kernels)
        self.kernels.synchronize()
        self.copies.synchronize()
