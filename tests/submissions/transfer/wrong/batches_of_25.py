"""Mistake: products go in batches of 25, T // 25 of them, from 25 on; what is left over is forgotten: wrong for T = 30.
The contract: any T up to 100."""

import numpy as np
import pycuda.driver as cuda

TILE = 16


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.multiply, self.A, self.B, self.C = multiply, A, B, C
        self.N, self.T = N, T
        self.device_a, self.device_x, self.device_y = (cuda.mem_alloc(A.nbytes) for _ in range(3))

    def product(self, x, y):
        side = -(-self.N // TILE)
        self.multiply(self.device_a, x, y, np.int32(self.N), grid=(side, side), block=(TILE, TILE, 1))

    def run(self):
        cuda.memcpy_htod(self.device_a, self.A)
        cuda.memcpy_htod(self.device_x, self.B)
        x, y = self.device_x, self.device_y
        batch = min(25, self.T)
        for _ in range(self.T // batch):
            for _ in range(batch):
                self.product(x, y)
                x, y = y, x
        cuda.memcpy_dtoh(self.C, x)
