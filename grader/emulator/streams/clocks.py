"""What happens before what: vector clocks of the streams and of the host.

What runs on a device by itself is ordered by streams, by events and by the host's waiting, and by nothing else: not by
the order of the calls, nor by how long things usually take.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

Thread = TypeVar("Thread", bound=Hashable)
"""Who does something in order: a stream, or the host."""

Clock = dict[Thread, int]
"""How much of what each thread has done is known to have happened."""


class Clocks(Generic[Thread]):
    """The clocks after the calls so far. `blocking` are the streams that keep to the order of `default`."""

    def __init__(self, default: Thread, blocking: Iterable[Thread] = ()) -> None:
        self.blocking = set(blocking)
        self.host: Clock[Thread] = {}
        self._default = default
        self._clocks: dict[Thread, Clock[Thread]] = {}
        self._numbers: dict[Thread, int] = {}

    def of(self, thread: Thread) -> Clock[Thread]:
        return self._clocks.setdefault(thread, {})

    def step(self, thread: Thread, clock: Clock[Thread]) -> int:
        """The number of the thread's next step, which its clock now knows."""
        self._numbers[thread] = clock[thread] = self._numbers.get(thread, 0) + 1
        return clock[thread]

    def enqueue(self, stream: Thread) -> Clock[Thread]:
        """The clock of a stream that is given something: behind all that the host has waited for, and the default
        stream and those that keep to its order behind each other."""
        clock = self.of(stream)
        join(clock, self.host)
        if stream == self._default:
            for other in self.blocking:
                join(clock, self.of(other))
        elif stream in self.blocking:
            join(clock, self.of(self._default))
        return clock

    def host_waits(self, clock: Clock[Thread] | None = None) -> None:
        """The host waits for all that a clock knows of; None: for all there is."""
        for each in list(self._clocks.values()) if clock is None else [clock]:
            join(self.host, each)


def join(clock: Clock[Thread], other: Clock[Thread]) -> None:
    """Let everything that `other` knows happen before what follows in `clock`."""
    for thread, number in other.items():
        if clock.get(thread, 0) < number:
            clock[thread] = number
