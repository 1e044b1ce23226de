import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 22  # floats
BUFFERS = 3


class Schedule:
    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.copy_in, self.compute, self.copy_out = (cuda.Stream() for _ in range(3))
        nbytes = 4 * min(CHUNK, N)
        self.before = [cuda.mem_alloc(nbytes) for _ in range(BUFFERS)]
        self.after = [cuda.mem_alloc(nbytes) for _ in range(BUFFERS)]
        self.filled, self.computed, self.emptied = ([cuda.Event() for _ in range(BUFFERS)] for _ in range(3))

    def run(self):
        for number, first in enumerate(range(0, self.N, CHUNK)):
            turn = number % BUFFERS
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)

            self.copy_in.wait_for_event(self.computed[turn])
            cuda.memcpy_htod_async(self.before[turn], self.source[part], self.copy_in)  # ~
            self.filled[turn].record(self.compute)  #!

            self.compute.wait_for_event(self.filled[turn])
            self.compute.wait_for_event(self.emptied[turn])
            launch = {"grid": (-(-count // THREADS), 1), "block": (THREADS, 1, 1), "stream": self.compute}
            self.process(self.before[turn], self.after[turn], np.int32(count), self.R, **launch)
            self.computed[turn].record(self.compute)

            self.copy_out.wait_for_event(self.computed[turn])
            cuda.memcpy_dtoh_async(self.target[part], self.after[turn], self.copy_out)
            self.emptied[turn].record(self.copy_out)
        self.copy_out.synchronize()
