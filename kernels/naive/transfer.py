"""Copy both matrices in, multiply, copy the product out: for every product again.

What it costs: this is what a program does that replaces a call of NumPy by one of the GPU and changes nothing else.
A product of 200 × 200 matrices takes microseconds; three copies of 160 kB from and to pageable memory take many
times as long, and the GPU waits for them. For small matrices the CPU is faster.
"""

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
        x = self.B
        for _ in range(self.T):
            cuda.memcpy_htod(self.device_a, self.A)
            cuda.memcpy_htod(self.device_x, x)
            self.multiply(
                self.device_a,
                self.device_x,
                self.device_y,
                np.int32(self.N),
                grid=(side, side),
                block=(TILE, TILE, 1),
            )
            cuda.memcpy_dtoh(self.C, self.device_y)
            x = self.C
