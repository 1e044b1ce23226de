"""A generator yields after each step of a chunk; the host goes round all of them until none is left."""

from collections import deque

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 23


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.device = cuda.mem_alloc(source.nbytes)
        self.streams = [cuda.Stream() for _ in range(4)]

    def steps(self, first, stream):
        count = min(CHUNK, self.N - first)
        part = slice(first, first + count)
        place = int(self.device) + 4 * first
        cuda.memcpy_htod_async(place, self.source[part], stream)
        yield
        self.process(
            np.uintp(place),
            np.uintp(place),
            np.int32(count),
            self.R,
            grid=(-(-count // THREADS), 1),
            block=(THREADS, 1, 1),
            stream=stream,
        )
        yield
        cuda.memcpy_dtoh_async(self.target[part], place, stream)

    def run(self):
        going = deque(
            self.steps(first, self.streams[number % 4])
            for number, first in enumerate(range(0, self.N, CHUNK))
        )
        while going:
            steps = going.popleft()
            try:
                next(steps)
            except StopIteration:
                continue
            going.append(steps)
        cuda.Context.synchronize()
