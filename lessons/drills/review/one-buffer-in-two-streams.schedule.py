import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 22  # floats


class Schedule:
    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.buffers = [cuda.mem_alloc(4 * min(CHUNK, N)) for _ in range(2)]
        self.fetch, self.work = cuda.Stream(), cuda.Stream()
        self.filled = [cuda.Event() for _ in range(2)]
        self.free = [cuda.Event() for _ in range(2)]

    def run(self):
        for number, first in enumerate(range(0, self.N, CHUNK)):
            turn = number % 2
            buffer = self.buffers[turn]
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)

            self.fetch.wait_for_event(self.free[turn])  # not recorded yet: no wait
            cuda.memcpy_htod_async(buffer, self.source[part], self.fetch)  # ~
            self.filled[turn].record(self.fetch)

            self.work.wait_for_event(self.filled[turn])
            launch = {"grid": (-(-count // THREADS), 1), "block": (THREADS, 1, 1), "stream": self.work}
            self.process(buffer, buffer, np.int32(count), self.R, **launch)
            self.free[turn].record(self.work)  #!
            cuda.memcpy_dtoh_async(self.target[part], buffer, self.work)  # ~
        self.work.synchronize()
