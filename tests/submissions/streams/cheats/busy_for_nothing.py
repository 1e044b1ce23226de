"""Chunks in one stream, one step after the other. A second stream launches the kernel on memory that nobody needs,
while chunks are copied: two engines are busy, and nothing is gained.
"""
# deserves: 02_chunks

import numpy as np
import pycuda.driver as cuda


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source, self.target = cuda.register_host_memory(source), cuda.register_host_memory(target)
        self.size = -(-N // 64)
        self.device_in, self.device_out = cuda.mem_alloc(4 * self.size), cuda.mem_alloc(4 * self.size)
        self.idle = max(1, self.size * 155 // 100)
        self.idle_in, self.idle_out = cuda.mem_alloc(4 * self.idle), cuda.mem_alloc(4 * self.idle)
        self.work, self.show, self.done = cuda.Stream(), cuda.Stream(), cuda.Event()

    def launch(self, source, target, count, stream):
        """A launch over `count` elements."""
        grid = (-(-count // 256), 1)
        self.process(source, target, np.int32(count), self.R, grid=grid, block=(256, 1, 1), stream=stream)

    def run(self):
        cuda.memset_d32_async(self.idle_in, 0, self.idle, self.show)
        for first in range(0, self.N, self.size):
            count = min(self.size, self.N - first)
            cuda.memcpy_htod_async(self.device_in, self.source[first : first + count], self.work)
            self.launch(self.device_in, self.device_out, count, self.work)
            self.done.record(self.work)
            self.show.wait_for_event(self.done)
            if first + count < self.N:
                self.launch(self.idle_in, self.idle_out, self.idle, self.show)
            cuda.memcpy_dtoh_async(self.target[first : first + count], self.device_out, self.work)
        self.work.synchronize()
        self.show.synchronize()
