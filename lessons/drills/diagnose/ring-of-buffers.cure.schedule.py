"""A ring of four buffers, and a stream for each of them."""

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 22  # floats: 16 MiB
BUFFERS = 4


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process = process
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.N, self.R = N, np.int32(R)
        size = 4 * min(CHUNK, N)
        self.streams = [cuda.Stream() for _ in range(BUFFERS)]
        self.inputs = [cuda.mem_alloc(size) for _ in range(BUFFERS)]
        self.outputs = [cuda.mem_alloc(size) for _ in range(BUFFERS)]

    def run(self):
        for number, first in enumerate(range(0, self.N, CHUNK)):
            turn = number % BUFFERS
            stream = self.streams[turn]
            given, made = self.inputs[turn], self.outputs[turn]
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)
            cuda.memcpy_htod_async(given, self.source[part], stream)
            self.process(
                given,
                made,
                np.int32(count),
                self.R,
                grid=(-(-count // THREADS), 1),
                block=(THREADS, 1, 1),
                stream=stream,
            )
            cuda.memcpy_dtoh_async(self.target[part], made, stream)
        for stream in self.streams:
            stream.synchronize()
