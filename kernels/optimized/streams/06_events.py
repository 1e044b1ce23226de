"""A stream for each engine, and events between them: say what waits for what, and nothing more.

What it buys: three streams, one a stage, whatever the number of buffers. A chunk goes from stage to stage by
events: the kernel waits for the copy in, the copy out for the kernel. And backwards: a buffer is filled again only
after the event that says it has been read. In a stream for each buffer, a copy in waits until the copy out of an
earlier chunk is through, though it needs another buffer; here it waits for the kernel alone.

With four streams and chunks this large, all engines were busy before: here it changes hardly anything.

What limits it next: the calls. Every chunk takes ten of them, and each is a few microseconds of the host.
"""

# /// schedule
# side_step = true
# ///

import numpy as np
import pycuda.driver as cuda

THREADS = 256
CHUNK = 1 << 22  # floats: 16 MiB
BUFFERS = 3


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process = process
        self.source = cuda.register_host_memory(source)
        self.target = cuda.register_host_memory(target)
        self.N, self.R = N, np.int32(R)
        floats = min(CHUNK, N)
        self.copy_in, self.compute, self.copy_out = (cuda.Stream() for _ in range(3))
        self.device_in = [cuda.mem_alloc(4 * floats) for _ in range(BUFFERS)]
        self.device_out = [cuda.mem_alloc(4 * floats) for _ in range(BUFFERS)]
        untimed = cuda.event_flags.DISABLE_TIMING  # an event that only orders is cheaper
        self.filled, self.computed, self.emptied = (
            [cuda.Event(untimed) for _ in range(BUFFERS)] for _ in range(3)
        )

    def run(self):
        for number, first in enumerate(range(0, self.N, CHUNK)):
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)
            turn = number % BUFFERS
            device_in, device_out = self.device_in[turn], self.device_out[turn]
            # An event that was never recorded holds nobody up: that is the first round.
            self.copy_in.wait_for_event(self.computed[turn])
            cuda.memcpy_htod_async(device_in, self.source[part], self.copy_in)
            self.filled[turn].record(self.copy_in)

            self.compute.wait_for_event(self.filled[turn])
            self.compute.wait_for_event(self.emptied[turn])
            self.process(
                device_in,
                device_out,
                np.int32(count),
                self.R,
                grid=(-(-count // THREADS), 1),
                block=(THREADS, 1, 1),
                stream=self.compute,
            )
            self.computed[turn].record(self.compute)

            self.copy_out.wait_for_event(self.computed[turn])
            cuda.memcpy_dtoh_async(self.target[part], device_out, self.copy_out)
            self.emptied[turn].record(self.copy_out)
        self.copy_out.synchronize()
