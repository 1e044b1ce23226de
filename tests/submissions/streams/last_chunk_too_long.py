"""Every chunk is a whole one: the last reaches beyond the end where N is no multiple of the chunk."""

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 22  # floats: 16 MiB


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process = process
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.R = np.int32(R)
        self.device_in = cuda.mem_alloc(source.nbytes)
        self.device_out = cuda.mem_alloc(target.nbytes)
        self.chunks = [(first, CHUNK, cuda.Stream()) for first in range(0, N, CHUNK)]

    def run(self):
        for first, count, stream in self.chunks:
            part = self.source[first : first + count]
            cuda.memcpy_htod_async(int(self.device_in) + 4 * first, part, stream)
        for first, count, stream in self.chunks:
            self.process(
                np.uint64(int(self.device_in) + 4 * first),
                np.uint64(int(self.device_out) + 4 * first),
                np.int32(count),
                self.R,
                grid=(-(-count // THREADS), 1),
                block=(THREADS, 1, 1),
                stream=stream,
            )
        for first, count, stream in self.chunks:
            part = self.target[first : first + count]
            cuda.memcpy_dtoh_async(part, int(self.device_out) + 4 * first, stream)
        cuda.Context.synchronize()
