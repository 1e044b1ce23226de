import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 23  # floats


class Schedule:
    def __init__(self, process, source, target, N, R):
        self.process, self.source, self.target = process, source, target
        self.N, self.R = N, np.int32(R)
        self.page_locked = cuda.pagelocked_empty(min(CHUNK, N), np.float32)
        self.device = cuda.mem_alloc(self.page_locked.nbytes)
        self.stream = cuda.Stream()

    def run(self):
        for first in range(0, self.N, CHUNK):
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)
            staged = self.page_locked[:count]

            staged[:] = self.source[part]  # ~
            cuda.memcpy_htod_async(self.device, staged, self.stream)
            launch = {"grid": (-(-count // THREADS), 1), "block": (THREADS, 1, 1), "stream": self.stream}
            self.process(self.device, self.device, np.int32(count), self.R, **launch)
            cuda.memcpy_dtoh_async(staged, self.device, self.stream)  #!
            self.target[part] = staged  # ~
        self.stream.synchronize()
