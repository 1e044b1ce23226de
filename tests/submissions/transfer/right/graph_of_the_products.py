"""Copies are calls of their own; a graph holds the products alone."""

import numpy as np
import pycuda.driver as cuda

from grader.driver_ext import capture

TILE = 16


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.A, self.B, self.C = (cuda.register_host_memory(matrix) for matrix in (A, B, C))
        self.stream = cuda.Stream()
        self.a, self.x, y = (cuda.mem_alloc(A.nbytes) for _ in range(3))
        self.buffers = [self.x, y]
        side = -(-N // TILE)
        self.last = self.x
        with capture(self.stream) as self.graph:
            for number in range(T):
                x, self.last = self.buffers[number % 2], self.buffers[(number + 1) % 2]
                multiply(
                    self.a,
                    x,
                    self.last,
                    np.int32(N),
                    grid=(side, side),
                    block=(TILE, TILE, 1),
                    stream=self.stream,
                )

    def run(self):
        cuda.memcpy_htod_async(self.a, self.A, self.stream)
        cuda.memcpy_htod_async(self.x, self.B, self.stream)
        self.graph.launch(self.stream)
        cuda.memcpy_dtoh_async(self.C, self.last, self.stream)
        self.stream.synchronize()
