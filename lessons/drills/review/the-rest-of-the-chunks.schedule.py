import numpy as np
import pycuda.driver as cuda

THREADS = 256


class Schedule:
    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.chunk = min(1 << 22, N)  # floats
        self.streams = [cuda.Stream() for _ in range(2)]
        self.buffers = [cuda.mem_alloc(4 * self.chunk) for _ in range(2)]

    def run(self):
        for number in range(self.N // self.chunk):  #!
            first = number * self.chunk
            count = self.chunk  #!
            part = slice(first, first + count)
            stream, buffer = self.streams[number % 2], self.buffers[number % 2]
            cuda.memcpy_htod_async(buffer, self.source[part], stream)
            launch = {"grid": (-(-count // THREADS), 1), "block": (THREADS, 1, 1), "stream": stream}
            self.process(buffer, buffer, np.int32(count), self.R, **launch)
            cuda.memcpy_dtoh_async(self.target[part], buffer, stream)
        for stream in self.streams:
            stream.synchronize()
