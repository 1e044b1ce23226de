"""NumPy multiplies while run() is written down, and leaves C where it belongs; the device multiplies as well, into
memory that is copied to another array of the host, for the counters' sake.
"""
# deserves: nothing
# reason: a schedule moves data

import numpy as np
import pycuda.driver as cuda


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.multiply, self.N, self.T, self.C = multiply, N, T, C
        self.A, self.B = cuda.register_host_memory(A), cuda.register_host_memory(B)
        self.other = cuda.pagelocked_empty((N, N), np.float32)
        self.a, self.x, self.y = (cuda.mem_alloc(A.nbytes) for _ in range(3))
        self.stream = cuda.Stream()

    def run(self):
        cuda.memcpy_htod_async(self.a, self.A, self.stream)
        cuda.memcpy_htod_async(self.x, self.B, self.stream)
        side = -(-self.N // 16)
        for _ in range(self.T):
            self.multiply(
                self.a,
                self.x,
                self.y,
                np.int32(self.N),
                grid=(side, side),
                block=(16, 16, 1),
                stream=self.stream,
            )
        cuda.memcpy_dtoh_async(self.other, self.y, self.stream)
        self.stream.synchronize()
        x = np.array(self.B)
        for _ in range(self.T):
            x = np.array(self.A) @ x
        self.C[:] = x
