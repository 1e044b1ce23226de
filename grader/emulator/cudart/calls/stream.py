"""The runtime's calls about streams and events."""

from __future__ import annotations

import ctypes
import itertools
import time
from dataclasses import dataclass

from grader.emulator.cudart.events import Frames
from grader.emulator.cudart.native import store, store_int, store_word
from grader.emulator.cudart.state import Call, State
from grader.emulator.cudart.status import CudaError, Status
from grader.emulator.cudart.uses import DEFAULT, PER_THREAD
from grader.emulator.cudart.waiting import Waiting
from grader.emulator.streams.clocks import Clock, join

_NON_BLOCKING = 1
_DISABLE_TIMING = 2
_SPECIAL = (DEFAULT, 1, PER_THREAD)


@dataclass
class EventState:
    """An event: what had been enqueued, and when, the last time that it was recorded."""

    timing: bool
    clock: Clock[int] | None = None
    seconds: float = 0.0


class StreamCalls:
    """Methods are named as the runtime's functions, and take their arguments as 64-bit words."""

    def __init__(self, state: State, waiting: Waiting) -> None:
        self.state, self.waiting = state, waiting
        self._handles = itertools.count(0x1000, 0x10)
        self._flags: dict[int, int] = {}
        self._events: dict[int, EventState] = {}
        self._made: dict[int, Call] = {}

    def _handle(self) -> int:
        handle = next(self._handles)
        self._made[handle] = self.state.call
        return handle

    def undestroyed(self) -> list[tuple[str, Frames]]:
        """The calls that made the streams and events that there still are."""
        return [(call.name, call.frames) for call in self._made.values()]

    # -- streams ----------------------------------------------------------------------------------------------
    def cudaStreamCreate(self, out: int) -> None:
        self.cudaStreamCreateWithFlags(out, 0)

    def cudaStreamCreateWithPriority(self, out: int, flags: int, priority: int) -> None:
        self.cudaStreamCreateWithFlags(out, flags)

    def cudaStreamCreateWithFlags(self, out: int, flags: int) -> None:
        handle = self._handle()
        self._flags[handle] = flags
        self.waiting.new_stream(handle, blocking=not flags & _NON_BLOCKING)
        store_word(out, handle)

    def cudaStreamDestroy(self, stream: int) -> None:
        self.check(stream)
        if stream in _SPECIAL:
            raise CudaError(Status.InvalidResourceHandle, "the default stream is not destroyed")
        self.waiting.end_stream(stream)
        del self._flags[stream], self._made[stream]

    def cudaStreamSynchronize(self, stream: int) -> None:
        self.check(stream)
        self.waiting.waited(self.waiting.given(stream))
        self.raise_sticky()

    def cudaStreamQuery(self, stream: int) -> None:
        self.cudaStreamSynchronize(stream)

    def cudaStreamWaitEvent(self, stream: int, event: int) -> None:
        self.check(stream)
        clock = self._event(event).clock
        if clock is not None:
            join(self.waiting.enqueue(stream), clock)

    def cudaStreamGetPriority(self, stream: int, out: int) -> None:
        store_int(out, 0)

    def cudaStreamGetFlags(self, stream: int, out: int) -> None:
        self.check(stream)
        store_int(out, self._flags.get(stream, 0))

    def cudaStreamGetDevice(self, stream: int, out: int) -> None:
        self.check(stream)
        store_int(out, 0)

    def cudaStreamAttachMemAsync(self, stream: int, address: int, nbytes: int, flags: int) -> None:
        self.check(stream)

    def cudaStreamSetAttribute(self, stream: int, attribute: int) -> None:
        """A wish, such as which lines of L2 to keep."""
        self.check(stream)

    def cudaStreamAddCallback(self, stream: int) -> None:
        """The runtime calls the function itself when this returns: all work before it is done."""
        self.cudaStreamSynchronize(stream)

    def cudaLaunchHostFunc(self, stream: int, function: int, data: int) -> None:
        self.cudaStreamSynchronize(stream)
        self.state.call_host(function, data)

    def check(self, stream: int) -> None:
        """Raises CudaError where this is no stream."""
        if stream not in _SPECIAL and stream not in self._flags and stream not in self.waiting.nodes:
            raise CudaError(Status.InvalidResourceHandle, "this is no stream, or one that has been destroyed")

    def raise_sticky(self) -> None:
        """What a kernel has done to the device stays: every call says it."""
        if self.state.sticky:
            raise CudaError(self.state.sticky, noted=True)

    # -- events -----------------------------------------------------------------------------------------------
    def cudaEventCreate(self, out: int) -> None:
        self.cudaEventCreateWithFlags(out, 0)

    def cudaEventCreateWithFlags(self, out: int, flags: int) -> None:
        handle = self._handle()
        self._events[handle] = EventState(timing=not flags & _DISABLE_TIMING)
        store_word(out, handle)

    def cudaEventDestroy(self, event: int) -> None:
        self._event(event)
        del self._events[event], self._made[event]

    def cudaEventRecord(self, event: int, stream: int) -> None:
        self.check(stream)
        found = self._event(event)
        work = self.waiting.work(stream)
        found.clock = dict(self.waiting.clocks.of(work.stream))
        found.seconds = time.perf_counter()

    def cudaEventRecordWithFlags(self, event: int, stream: int) -> None:
        self.cudaEventRecord(event, stream)

    def cudaEventSynchronize(self, event: int) -> None:
        clock = self._event(event).clock
        if clock is not None:
            self.waiting.waited(clock)
        self.raise_sticky()

    def cudaEventQuery(self, event: int) -> None:
        self.cudaEventSynchronize(event)

    def cudaEventElapsedTime(self, out: int, start: int, stop: int) -> None:
        first, last = self._event(start), self._event(stop)
        for event, name in ((first, "first"), (last, "second")):
            if not event.timing:
                raise CudaError(Status.InvalidResourceHandle, f"the {name} event was created without timing")
            if event.clock is None:
                raise CudaError(Status.InvalidResourceHandle, f"the {name} event has never been recorded")
            if not self.waiting.has_waited(event.clock):
                raise CudaError(Status.NotReady, f"nothing has waited for the {name} event")
        self.state.times_read = True
        store(out, ctypes.c_float, (last.seconds - first.seconds) * 1e3)

    def _event(self, event: int) -> EventState:
        if event not in self._events:
            raise CudaError(Status.InvalidResourceHandle, "this is no event, or one that has been destroyed")
        return self._events[event]
