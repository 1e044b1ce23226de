"""Offsets on the device count elements, where a pointer counts bytes: the chunks overlap."""

import numpy as np
import pycuda.driver as cuda

STREAMS = 4
CHUNKS = 16


class Schedule:
    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.streams = [cuda.Stream() for _ in range(STREAMS)]
        self.size = -(-N // CHUNKS)
        self.device_in = cuda.mem_alloc(source.nbytes)
        self.device_out = cuda.mem_alloc(target.nbytes)

    def run(self):
        for i, first in enumerate(range(0, self.N, self.size)):
            n = min(self.size, self.N - first)
            stream = self.streams[i % STREAMS]
            din, dout = int(self.device_in) + first, int(self.device_out) + first
            cuda.memcpy_htod_async(din, self.source[first : first + n], stream)
            self.process(
                np.uintp(din),
                np.uintp(dout),
                np.int32(n),
                self.R,
                grid=(-(-n // 256), 1),
                block=(256, 1, 1),
                stream=stream,
            )
            cuda.memcpy_dtoh_async(self.target[first : first + n], dout, stream)
        for s in self.streams:
            s.synchronize()
