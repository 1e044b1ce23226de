"""Chunks are a frozen dataclass, and each has its stream."""

from dataclasses import dataclass

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 22


@dataclass(frozen=True)
class Chunk:
    """Elements of the arrays."""

    first: int
    count: int

    @property
    def part(self) -> slice:
        return slice(self.first, self.first + self.count)


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.R = process, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.chunks = [Chunk(first, min(CHUNK, N - first)) for first in range(0, N, CHUNK)]
        self.streams = [cuda.Stream() for _ in range(3)]
        self.buffers = [cuda.mem_alloc(4 * min(CHUNK, N)) for _ in self.streams]

    def run(self):
        for number, chunk in enumerate(self.chunks):
            stream, buffer = self.streams[number % 3], self.buffers[number % 3]
            cuda.memcpy_htod_async(buffer, self.source[chunk.part], stream)
            grid = (-(-chunk.count // THREADS), 1)
            self.process(
                buffer, buffer, np.int32(chunk.count), self.R, grid=grid, block=(THREADS, 1, 1), stream=stream
            )
            cuda.memcpy_dtoh_async(self.target[chunk.part], buffer, stream)
        for stream in self.streams:
            stream.synchronize()
