"""A graph of two streams, of which the second has its work before it waits for the first: a capture does not see it."""

# reason: not part of the capture

import numpy as np
import pycuda.driver as cuda

from grader.driver_ext import capture

THREADS = 256


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.copies, kernels = cuda.Stream(), cuda.Stream()
        device, filled = cuda.mem_alloc(source.nbytes), cuda.Event()
        shape = {"grid": (-(-N // THREADS), 1), "block": (THREADS, 1, 1), "stream": kernels}
        with capture(self.copies) as self.graph:
            cuda.memcpy_htod_async(device, self.source, self.copies)
            filled.record(self.copies)
            process(device, device, np.int32(N), np.int32(R), **shape)
            cuda.memcpy_dtoh_async(self.target, device, kernels)

    def run(self):
        self.graph.launch(self.copies)
        self.copies.synchronize()
