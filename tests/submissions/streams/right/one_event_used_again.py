"""One event orders everything: it is recorded anew for each step, and a wait holds for the latest
record before it.
"""

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
        self.device_in, self.device_out = cuda.mem_alloc(source.nbytes), cuda.mem_alloc(target.nbytes)
        self.copies_in, self.kernels, self.copies_out = cuda.Stream(), cuda.Stream(), cuda.Stream()
        self.event = cuda.Event()

    def after(self, earlier, later):
        self.event.record(earlier)
        later.wait_for_event(self.event)

    def run(self):
        for first in range(0, self.N, CHUNK):
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)
            from_, to = int(self.device_in) + 4 * first, int(self.device_out) + 4 * first
            cuda.memcpy_htod_async(from_, self.source[part], self.copies_in)
            self.after(self.copies_in, self.kernels)
            self.process(
                np.uintp(from_),
                np.uintp(to),
                np.int32(count),
                self.R,
                grid=(-(-count // THREADS), 1),
                block=(THREADS, 1, 1),
                stream=self.kernels,
            )
            self.after(self.kernels, self.copies_out)
            cuda.memcpy_dtoh_async(self.target[part], to, self.copies_out)
        self.copies_out.synchronize()
