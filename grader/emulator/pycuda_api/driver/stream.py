"""`Stream` and `Event`.

Work is done in the order it is given, at once, whatever its stream: every stream is idle between two calls.
Under a recorder it is not done, but written down.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import TypeVar

from grader.emulator.pycuda_api.driver.constants import event_flags
from grader.emulator.pycuda_api.driver.context import context_for
from grader.emulator.pycuda_api.driver.conversion import unsigned
from grader.emulator.pycuda_api.driver.emulation import emulation, in_context
from grader.emulator.pycuda_api.driver.errors import Status, failure
from grader.emulator.streams.recorder import NotRecorded, Recorder

Result = TypeVar("Result")
_handles = itertools.count(0x10000, 0x10)

NON_BLOCKING = 1
"""A stream's flag: it does not wait for the default stream, nor the default stream for it."""


class Stream:
    """A queue of work on the device."""

    def __init__(self, flags: int = 0) -> None:
        unsigned(flags, "Stream: flags", 32)
        context_for(self)
        self.handle = next(_handles)
        recorder = in_context("cuStreamCreate").recorder
        if recorder is not None:
            recorder.stream(self, blocking=not flags & NON_BLOCKING)

    def synchronize(self) -> None:
        recorder = in_context("cuStreamSynchronize").recorder
        if recorder is not None:
            recorder.synchronise(self)

    def is_done(self) -> bool:
        recorder = in_context("cuStreamQuery").recorder
        if recorder is not None:
            recorder.synchronise(self)  # only the answer "yes" lets a schedule go on
        return True

    def wait_for_event(self, event: Event) -> None:
        if not isinstance(event, Event):
            raise TypeError(f"wait_for_event: an Event is needed, not {type(event).__name__}")
        recorder = in_context("cuStreamWaitEvent").recorder
        if recorder is not None:
            recorder.wait_for_event(self, event)


def in_order(
    stream: Stream | None, work: Callable[[], Result], note: Callable[[Recorder], None]
) -> Result | None:
    """Do `work` when everything given to `stream` before it is done; None is the default stream.

    All asynchronous calls of the driver come through here. Where there is a recorder, `note` tells it of the
    call instead; in a capture the work is kept for later. Then the result is None.
    """
    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"stream must be a Stream or None, not {type(stream).__name__}")
    found = emulation()
    if found.recorder is not None:
        note(found.recorder)
        return None
    if found.captured is not None:
        found.captured.append(work)
        return None
    return work()


class Event:
    """A point in a stream, with its time.

    The clock is the host's: the time between two events is how long the emulator took for what lies between
    them. It says nothing about a GPU; `ladder climb` and `ladder profile` model that.
    """

    def __init__(self, flags: int = event_flags.DEFAULT) -> None:
        self._flags = unsigned(flags, "Event: flags", 32)
        context_for(self)
        self._recorded: float | None = None  # seconds
        recorder = in_context("cuEventCreate").recorder
        if recorder is not None:
            recorder.event(self)

    def record(self, stream: Stream | None = None) -> Event:
        in_context("cuEventRecord")
        in_order(stream, self._happen, lambda recorder: recorder.record_event(self, stream))
        return self

    def _happen(self) -> None:
        self._recorded = time.perf_counter()

    def synchronize(self) -> Event:
        recorder = in_context("cuEventSynchronize").recorder
        if recorder is not None:
            recorder.await_event(self)
        return self

    def query(self) -> bool:
        recorder = in_context("cuEventQuery").recorder
        if recorder is not None:
            recorder.await_event(self)
        return True

    def time_since(self, start: Event) -> float:
        """Milliseconds from `start` to this event, on the host's clock."""
        if in_context("cuEventElapsedTime").recorder is not None:
            raise NotRecorded("a schedule is written down, not timed: the judge times its replay")
        untimed = (self._flags | start._flags) & event_flags.DISABLE_TIMING
        if untimed or self._recorded is None or start._recorded is None:
            detail = "an event was made with DISABLE_TIMING" if untimed else "an event was never recorded"
            raise failure("cuEventElapsedTime", Status.INVALID_HANDLE, detail)
        return (self._recorded - start._recorded) * 1e3

    def time_till(self, end: Event) -> float:
        """Milliseconds from this event to `end`, on the host's clock."""
        return end.time_since(self)
