"""Every product is written over the matrix that it is made of, while other blocks still read it."""

import numpy as np
import pycuda.driver as cuda

TILE = 16


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.multiply, self.A, self.B, self.C = multiply, A, B, C
        self.N, self.T = N, T
        self.device_a, self.device_x = (cuda.mem_alloc(A.nbytes) for _ in range(2))

    def run(self):
        side = -(-self.N // TILE)
        cuda.memcpy_htod(self.device_a, self.A)
        cuda.memcpy_htod(self.device_x, self.B)
        x = self.device_x
        for _ in range(self.T):
            self.multiply(self.device_a, x, x, np.int32(self.N), grid=(side, side), block=(TILE, TILE, 1))
        cuda.memcpy_dtoh(self.C, x)
