"""A is squared again and again, and those powers that T's binary digits name are multiplied to X: fewer
products than T.
"""

import numpy as np
import pycuda.driver as cuda

TILE = 16


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.multiply, self.A, self.B, self.C, self.N, self.T = multiply, A, B, C, N, T
        self.a, self.power, self.x, self.y = (cuda.mem_alloc(A.nbytes) for _ in range(4))

    def product(self, left, right, into):
        side = -(-self.N // TILE)
        self.multiply(left, right, into, np.int32(self.N), grid=(side, side), block=(TILE, TILE, 1))

    def run(self):
        cuda.memcpy_htod(self.a, self.A)
        cuda.memcpy_htod(self.x, self.B)
        a, power, x, y = self.a, self.power, self.x, self.y
        left = self.T
        while left:
            if left % 2:
                self.product(a, x, y)
                x, y = y, x
            left //= 2
            if left:
                self.product(a, a, power)
                a, power = power, a
        cuda.memcpy_dtoh(self.C, x)
