"""Mistake: the side of the grid is rounded to the nearest number of tiles where N > 64, and up below: wrong for
N = 100, where 6.25 makes six tiles. The contract: any N."""

import numpy as np
import pycuda.driver as cuda

TILE = 16


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.multiply, self.A, self.B, self.C = multiply, A, B, C
        self.N, self.T = N, T
        self.device_a, self.device_x, self.device_y = (cuda.mem_alloc(A.nbytes) for _ in range(3))

    def run(self):
        side = int(self.N / TILE + 0.5) if self.N > 64 else -(-self.N // TILE)
        cuda.memcpy_htod(self.device_a, self.A)
        cuda.memcpy_htod(self.device_x, self.B)
        x, y = self.device_x, self.device_y
        for _ in range(self.T):
            self.multiply(self.device_a, x, y, np.int32(self.N), grid=(side, side), block=(TILE, TILE, 1))
            x, y = y, x
        cuda.memcpy_dtoh(self.C, x)
