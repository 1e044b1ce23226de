"""Mistake: for sides from 48 on and T >= 20 products go in batches of 20, T // 20 of them; what is left over is
forgotten: wrong for N = 100, T = 75. The contract: any N and T."""

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
        side = -(-self.N // TILE)
        cuda.memcpy_htod(self.device_a, self.A)
        cuda.memcpy_htod(self.device_x, self.B)
        x, y = self.device_x, self.device_y
        products = self.T // 20 * 20 if self.N >= 48 and self.T >= 20 else self.T
        for _ in range(products):
            self.multiply(self.device_a, x, y, np.int32(self.N), grid=(side, side), block=(TILE, TILE, 1))
            x, y = y, x
        cuda.memcpy_dtoh(self.C, x)
