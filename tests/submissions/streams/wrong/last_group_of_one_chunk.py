"""Mistake: chunks go in groups of four, and each group but the first has its event recorded for its second chunk: a
last group of one chunk is copied home without waiting for its kernel: wrong for 5, 9, 13 … chunks of 2^20. The
contract: any N."""

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 20


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process = process
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.N, self.R = N, np.int32(R)
        self.work, self.home = cuda.Stream(), cuda.Stream()
        self.device = cuda.mem_alloc(4 * N)

    def run(self):
        chunks = -(-self.N // CHUNK)
        for group in range(0, chunks, 4):
            own = range(group, min(group + 4, chunks))
            parts = [slice(c * CHUNK, min((c + 1) * CHUNK, self.N)) for c in own]
            for part in parts:
                count = part.stop - part.start
                place = int(self.device) + 4 * part.start
                cuda.memcpy_htod_async(place, self.source[part], self.work)
                self.process(
                    np.uintp(place),
                    np.uintp(place),
                    np.int32(count),
                    self.R,
                    grid=(-(-count // THREADS), 1),
                    block=(THREADS, 1, 1),
                    stream=self.work,
                )
            if group == 0 or len(parts) > 1:
                event = cuda.Event()
                event.record(self.work)
                self.home.wait_for_event(event)
            for part in parts:
                cuda.memcpy_dtoh_async(self.target[part], int(self.device) + 4 * part.start, self.home)
        self.work.synchronize()
        self.home.synchronize()
