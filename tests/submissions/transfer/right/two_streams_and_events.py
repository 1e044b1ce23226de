"""A and B come in two streams, products alternate between both, and an event orders each after the one
before.
"""

import numpy as np
import pycuda.driver as cuda

TILE = 16


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.multiply, self.N, self.T = multiply, N, T
        self.A, self.B, self.C = (cuda.register_host_memory(matrix) for matrix in (A, B, C))
        self.a, self.x, self.y = (cuda.mem_alloc(A.nbytes) for _ in range(3))
        self.streams = [cuda.Stream(), cuda.Stream()]
        self.event = cuda.Event()

    def run(self):
        side = -(-self.N // TILE)
        cuda.memcpy_htod_async(self.a, self.A, self.streams[1])
        self.event.record(self.streams[1])
        cuda.memcpy_htod_async(self.x, self.B, self.streams[0])
        self.streams[0].wait_for_event(self.event)
        x, y = self.x, self.y
        for number in range(self.T):
            stream = self.streams[number % 2]
            if number:
                self.event.record(self.streams[(number + 1) % 2])
                stream.wait_for_event(self.event)
            self.multiply(
                self.a, x, y, np.int32(self.N), grid=(side, side), block=(TILE, TILE, 1), stream=stream
            )
            x, y = y, x
        last = self.streams[(self.T + 1) % 2]
        cuda.memcpy_dtoh_async(self.C, x, last)
        last.synchronize()
