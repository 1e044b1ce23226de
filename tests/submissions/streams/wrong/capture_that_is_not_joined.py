"""A graph of two streams, captured from the first: that does not wait for the second before the capture ends."""

# reason: the capture ends before

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
            kernels.wait_for_event(filled)
            process(device, device, np.int32(N), np.int32(R), **shape)
            cuda.memcpy_dtoh_async(self.target, device, kernels)

    def run(self):
        self.graph.launch(self.copies)
        self.copies.synchronize()
