"""Mistake: the results stay on the device; nothing is copied back to target."""

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 22  # floats: 16 MiB
STREAMS = 4


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process = process
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.N, self.R = N, np.int32(R)
        floats = min(CHUNK, N)
        self.streams = [cuda.Stream() for _ in range(STREAMS)]
        self.device_in = [cuda.mem_alloc(4 * floats) for _ in range(STREAMS)]
        self.device_out = [cuda.mem_alloc(4 * floats) for _ in range(STREAMS)]

    def run(self):
        for number, first in enumerate(range(0, self.N, CHUNK)):
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)
            turn = number % STREAMS
            stream, device_in, device_out = self.streams[turn], self.device_in[turn], self.device_out[turn]
            cuda.memcpy_htod_async(device_in, self.source[part], stream)
            self.process(
                device_in,
                device_out,
                np.int32(count),
                self.R,
                grid=(-(-count // THREADS), 1),
                block=(THREADS, 1, 1),
                stream=stream,
            )
        cuda.Context.synchronize()
