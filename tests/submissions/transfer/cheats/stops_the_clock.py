"""PyCUDA's events are told that no time passes, and time.perf_counter stands still. What is asked for
is the naive schedule.
"""

# deserves: 00_naive

import time

import numpy as np
import pycuda.driver as cuda

TILE = 16


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.multiply, self.A, self.B, self.C, self.N, self.T = multiply, A, B, C, N, T
        self.a, self.x, self.y = (cuda.mem_alloc(A.nbytes) for _ in range(3))
        time.perf_counter = time.monotonic = lambda: 0.0
        cuda.Event.time_since = cuda.Event.time_till = lambda *_: 0.0

    def run(self):
        side, x = -(-self.N // TILE), self.B
        for _ in range(self.T):
            cuda.memcpy_htod(self.a, self.A)
            cuda.memcpy_htod(self.x, x)
            self.multiply(self.a, self.x, self.y, np.int32(self.N), grid=(side, side), block=(TILE, TILE, 1))
            cuda.memcpy_dtoh(self.C, self.y)
            x = self.C
