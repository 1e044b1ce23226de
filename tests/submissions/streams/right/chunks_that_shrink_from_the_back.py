"""From the end to the beginning, in chunks that shrink: the first is a quarter, each further one three quarters of it.

An event recorded by the launch serves two waits, that of the copy out and that of the next copy in; copies out wait
in the order in which they were asked for, whatever the stream that asks.
"""

from dataclasses import dataclass, field

import numpy as np
import pycuda.driver as cuda


@dataclass
class Slot:
    """A pair of buffers, and what is known of it."""

    device_in: object
    device_out: object
    used: object = field(default_factory=lambda: cuda.Event(cuda.event_flags.DISABLE_TIMING))
    free: object = field(default_factory=lambda: cuda.Event(cuda.event_flags.DISABLE_TIMING))


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.R = process, np.int32(R)
        self.source, self.target = (cuda.register_host_memory(a) for a in (source, target))
        self.parts, end, size = [], N, max(1, N // 4)
        while end:
            size = min(size, end)
            self.parts.append((end - size, size))
            end, size = end - size, max(size * 3 // 4, 1 << 16)
        largest = max(count for _, count in self.parts)
        self.slots = [Slot(cuda.mem_alloc(4 * largest), cuda.mem_alloc(4 * largest)) for _ in range(2)]
        self.goes, self.comes = cuda.Stream(), cuda.Stream()

    def run(self):
        for turn, (first, count) in enumerate(self.parts):
            slot = self.slots[turn & 1]
            self.goes.wait_for_event(slot.free)
            cuda.memcpy_htod_async(slot.device_in, self.source[first : first + count], self.goes)
            grid = (-(-count // 256), 1)
            self.process(
                slot.device_in,
                slot.device_out,
                np.int32(count),
                self.R,
                grid=grid,
                block=(256, 1, 1),
                stream=self.goes,
            )
            slot.used.record(self.goes)
            self.comes.wait_for_event(slot.used)
            cuda.memcpy_dtoh_async(self.target[first : first + count], slot.device_out, self.comes)
            slot.free.record(self.comes)
        slot.free.synchronize()
