"""Mistake: a tail of fewer than 1024 floats joins the chunk before it, whose buffer has room for a chunk alone: wrong
for N = 4,194,304 * k + 1 to 1023. The contract: any N."""
# reason: beyond the allocation

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 22
STREAMS = 3
TAIL = 1024


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process = process
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.N, self.R = N, np.int32(R)
        floats = min(CHUNK, N)
        self.streams = [cuda.Stream() for _ in range(STREAMS)]
        self.buffers = [cuda.mem_alloc(4 * floats) for _ in range(STREAMS)]

    def run(self):
        first, number = 0, 0
        while first < self.N:
            left = self.N - first
            count = left if left < CHUNK + TAIL else CHUNK
            part = slice(first, first + count)
            stream, buffer = self.streams[number % STREAMS], self.buffers[number % STREAMS]
            cuda.memcpy_htod_async(buffer, self.source[part], stream)
            self.process(
                buffer,
                buffer,
                np.int32(count),
                self.R,
                grid=(-(-count // THREADS), 1),
                block=(THREADS, 1, 1),
                stream=stream,
            )
            cuda.memcpy_dtoh_async(self.target[part], buffer, stream)
            first += count
            number += 1
        for stream in self.streams:
            stream.synchronize()
