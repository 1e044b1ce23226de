"""The schedule is a list of closures made beforehand; run() calls them in order."""

from functools import partial

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 24


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        source, target = cuda.register_host_memory(source), cuda.register_host_memory(target)
        self.streams = [cuda.Stream(), cuda.Stream()]
        buffers = [cuda.mem_alloc(4 * min(CHUNK, N)) for _ in self.streams]
        self.todo = []
        for number, first in enumerate(range(0, N, CHUNK)):
            count = min(CHUNK, N - first)
            part, stream, buffer = slice(first, first + count), self.streams[number % 2], buffers[number % 2]
            shape = {"grid": (-(-count // THREADS), 1), "block": (THREADS, 1, 1), "stream": stream}
            self.todo += [
                partial(cuda.memcpy_htod_async, buffer, source[part], stream),
                partial(process, buffer, buffer, np.int32(count), np.int32(R), **shape),
                lambda part=part, buffer=buffer, stream=stream: cuda.memcpy_dtoh_async(
                    target[part], buffer, stream
                ),
            ]

    def run(self):
        for call in self.todo:
            call()
        for stream in self.streams:
            stream.synchronize()
