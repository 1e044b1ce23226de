import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 22  # floats
STREAMS = 3
BUFFERS = 2


class Schedule:
    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.streams = [cuda.Stream() for _ in range(STREAMS)]
        self.buffers = [cuda.mem_alloc(4 * min(CHUNK, N)) for _ in range(BUFFERS)]

    def run(self):
        for number, first in enumerate(range(0, self.N, CHUNK)):
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)
            stream = self.streams[number % STREAMS]
            buffer = self.buffers[number % BUFFERS]  #!

            cuda.memcpy_htod_async(buffer, self.source[part], stream)  # ~
            launch = {"grid": (-(-count // THREADS), 1), "block": (THREADS, 1, 1), "stream": stream}
            self.process(buffer, buffer, np.int32(count), self.R, **launch)
            cuda.memcpy_dtoh_async(self.target[part], buffer, stream)  # ~

        for stream in self.streams:
            stream.synchronize()
