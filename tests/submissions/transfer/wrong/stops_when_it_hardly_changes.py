"""Mistake: it looks at X after every product, and stops when X is close to the one before (np.allclose): with
A = 1.000001 · I it stops at once, and 100 products make 1.0001. The contract: T products, any floats."""

import numpy as np
import pycuda.driver as cuda

TILE = 16


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.multiply, self.A, self.B, self.C = multiply, A, B, C
        self.N, self.T = N, T
        self.device_a, self.device_x, self.device_y = (cuda.mem_alloc(A.nbytes) for _ in range(3))
        self.kept = [cuda.pagelocked_empty(A.shape, np.float32) for _ in range(2)]

    def product(self, x, y):
        side = -(-self.N // TILE)
        self.multiply(self.device_a, x, y, np.int32(self.N), grid=(side, side), block=(TILE, TILE, 1))

    def run(self):
        cuda.memcpy_htod(self.device_a, self.A)
        cuda.memcpy_htod(self.device_x, self.B)
        x, y = self.device_x, self.device_y
        before, after = self.kept
        before[:] = self.B
        for _ in range(self.T):
            self.product(x, y)
            x, y = y, x
            cuda.memcpy_dtoh(after, x)
            if np.allclose(before, after):
                break
            before, after = after, before
        cuda.memcpy_dtoh(self.C, x)
