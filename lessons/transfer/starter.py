"""Your schedule goes here; replace this text by its idea in a sentence.

X = B, then T times X ← A·X, then C = X, for N × N matrices. The topic's kernel multiplies two of them. __init__ is
for what is made once, run() is what is timed. It is called once, with a driver that writes your calls down; the
judge then replays them.
"""

import numpy as np
import pycuda.driver as cuda

TILE = 16  # a block is 16 × 16 threads, and computes as many elements


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
        # multiply(A, B, C, N): one product. TODO: there are T of them.
        self.multiply(
            self.device_a,
            self.device_x,
            self.device_y,
            np.int32(self.N),
            grid=(side, side),
            block=(TILE, TILE, 1),
        )
        cuda.memcpy_dtoh(self.C, self.device_y)
