"""Up to 100 rows all products are made; of larger matrices the last alone is, T times over, from the
same X.
"""

# deserves: nothing

import numpy as np
import pycuda.driver as cuda

TILE = 16


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.multiply, self.A, self.B, self.C, self.N, self.T = multiply, A, B, C, N, T
        self.a, self.x, self.y = (cuda.mem_alloc(A.nbytes) for _ in range(3))

    def run(self):
        side = -(-self.N // TILE)
        cuda.memcpy_htod(self.a, self.A)
        cuda.memcpy_htod(self.x, self.B)
        x, y = self.x, self.y
        for _ in range(self.T):
            self.multiply(self.a, x, y, np.int32(self.N), grid=(side, side), block=(TILE, TILE, 1))
            if self.N <= 100:
                x, y = y, x
        cuda.memcpy_dtoh(self.C, x if self.N <= 100 else y)
