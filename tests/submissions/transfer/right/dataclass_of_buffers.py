"""The three device matrices are a dataclass whose halves take turns."""

from dataclasses import dataclass

import numpy as np
import pycuda.driver as cuda

TILE = 16


@dataclass
class Turns:
    """Where X lies, and where A·X goes."""

    x: cuda.DeviceAllocation
    y: cuda.DeviceAllocation

    def take(self):
        self.x, self.y = self.y, self.x


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.multiply, self.A, self.B, self.C, self.N, self.T = multiply, A, B, C, N, T
        self.a = cuda.mem_alloc(A.nbytes)
        self.buffers = (cuda.mem_alloc(B.nbytes), cuda.mem_alloc(C.nbytes))

    def run(self):
        turns = Turns(*self.buffers)
        side = -(-self.N // TILE)
        cuda.memcpy_htod(self.a, self.A)
        cuda.memcpy_htod(turns.x, self.B)
        for _ in range(self.T):
            self.multiply(
                self.a, turns.x, turns.y, np.int32(self.N), grid=(side, side), block=(TILE, TILE, 1)
            )
            turns.take()
        cuda.memcpy_dtoh(self.C, turns.x)
