"""`Stream` and `Event`.

Work is done in the order it is given, at once, whatever its stream: every stream is idle between two calls.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import TypeVar

from grader.emulator.driver.constants import event_flags
from grader.emulator.driver.context import context_for
from grader.emulator.driver.conversion import unsigned
from grader.emulator.driver.emulation import in_context
from grader.emulator.driver.errors import Status, failure

Result = TypeVar("Result")
_handles = itertools.count(0x10000, 0x10)


class Stream:
    """A queue of work on the device."""

    def __init__(self, flags: int = 0) -> None:
        unsigned(flags, "Stream: flags", 32)
        context_for(self)
        self.handle = next(_handles)

    def synchronize(self) -> None:
        in_context("cuStreamSynchronize")

    def is_done(self) -> bool:
        in_context("cuStreamQuery")
        return True

    def wait_for_event(self, event: Event) -> None:
        if not isinstance(event, Event):
            raise TypeError(f"wait_for_event: an Event is needed, not {type(event).__name__}")
        in_context("cuStreamWaitEvent")


def in_order(stream: Stream | None, work: Callable[[], Result]) -> Result:
    """Do `work` when everything given to `stream` before it is done; None is the default stream.

    All asynchronous calls of the driver come through here.
    """
    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"stream must be a Stream or None, not {type(stream).__name__}")
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

    def record(self, stream: Stream | None = None) -> Event:
        in_context("cuEventRecord")
        self._recorded = in_order(stream, time.perf_counter)
        return self

    def synchronize(self) -> Event:
        in_context("cuEventSynchronize")
        return self

    def query(self) -> bool:
        in_context("cuEventQuery")
        return True

    def time_since(self, start: Event) -> float:
        """Milliseconds from `start` to this event, on the host's clock."""
        in_context("cuEventElapsedTime")
        untimed = (self._flags | start._flags) & event_flags.DISABLE_TIMING
        if untimed or self._recorded is None or start._recorded is None:
            detail = "an event was made with DISABLE_TIMING" if untimed else "an event was never recorded"
            raise failure("cuEventElapsedTime", Status.INVALID_HANDLE, detail)
        return (self._recorded - start._recorded) * 1e3

    def time_till(self, end: Event) -> float:
        """Milliseconds from this event to `end`, on the host's clock."""
        return end.time_since(self)
