"""Products go to two streams in turn, each waiting for the event of the one before; C leaves from whichever was last.

A and B go in by different streams at once. The host waits for an event, and for no stream.
"""

import numpy as np
import pycuda.driver as cuda


class Schedule:
    """X = B, then T times X ← A·X, then C = X; all N × N."""

    def __init__(self, multiply, A, B, C, N, T):
        self.multiply, self.N, self.T = multiply, N, T
        self.A, self.B, self.C = (cuda.register_host_memory(matrix) for matrix in (A, B, C))
        self.whole = cuda.mem_alloc(3 * A.nbytes)
        self.a, self.x, self.y = (np.uintp(int(self.whole) + i * A.nbytes) for i in range(3))
        self.streams = [cuda.Stream(), cuda.Stream()]
        self.events = [cuda.Event() for _ in range(T + 2)]

    def run(self):
        even, odd = self.streams
        cuda.memcpy_htod_async(int(self.x), self.B, odd)
        self.events[0].record(odd)
        cuda.memcpy_htod_async(int(self.a), self.A, even)
        x, y, side = self.x, self.y, -(-self.N // 16)
        for turn in range(self.T):
            stream = self.streams[turn % 2]
            stream.wait_for_event(self.events[turn])
            self.multiply(self.a, x, y, np.int32(self.N), grid=(side, side), block=(16, 16, 1), stream=stream)
            self.events[turn + 1].record(stream)
            x, y = y, x
        cuda.memcpy_dtoh_async(self.C, int(x), stream)
        self.events[-1].record(stream)
        self.events[-1].synchronize()
