"""Capture the whole schedule in a graph, once, and launch that: one call for all of it.

What it buys: between the begin and the end of a capture, calls are not done but written down, with what waits for
what. The graph is checked and prepared before the clock starts; launching it costs the host one call, however many
chunks there are. Chunks can be smaller, and the pipeline's beginning and end shorter.

What limits it next: the link itself. With copies in both directions it carries less than twice what one direction
does, and no schedule changes that.
"""

# /// schedule
# side_step = true
# ///

import numpy as np
import pycuda.driver as cuda

from grader.driver_ext import capture  # PyCUDA has no graphs of its own

THREADS = 256
CHUNK = 1 << 21  # floats: 8 MiB
BUFFERS = 4


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
        with capture(self.copy_in) as self.graph:
            self.enqueue()

    def enqueue(self):
        """Everything the GPU has to do, from the stream copy_in and back to it."""
        untimed = cuda.event_flags.DISABLE_TIMING
        computed, emptied = [None] * BUFFERS, [None] * BUFFERS
        for number, first in enumerate(range(0, self.N, CHUNK)):
            count = min(CHUNK, self.N - first)
            part = slice(first, first + count)
            turn = number % BUFFERS
            device_in, device_out = self.device_in[turn], self.device_out[turn]
            # A capture knows only the events that were recorded in it: there is none in the first round.
            if computed[turn] is not None:
                self.copy_in.wait_for_event(computed[turn])
                self.compute.wait_for_event(emptied[turn])
            cuda.memcpy_htod_async(device_in, self.source[part], self.copy_in)
            filled = cuda.Event(untimed).record(self.copy_in)

            self.compute.wait_for_event(filled)
            self.process(
                device_in,
                device_out,
                np.int32(count),
                self.R,
                grid=(-(-count // THREADS), 1),
                block=(THREADS, 1, 1),
                stream=self.compute,
            )
            computed[turn] = cuda.Event(untimed).record(self.compute)

            self.copy_out.wait_for_event(computed[turn])
            cuda.memcpy_dtoh_async(self.target[part], device_out, self.copy_out)
            emptied[turn] = cuda.Event(untimed).record(self.copy_out)
        self.copy_in.wait_for_event(emptied[turn])  # a capture ends in the stream it began in

    def run(self):
        self.graph.launch(self.copy_in)
        self.copy_in.synchronize()
