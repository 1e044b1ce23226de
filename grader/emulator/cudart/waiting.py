"""Who has waited for what: streams as vector clocks, and memory that the host must not touch before it has waited."""

from __future__ import annotations

import mmap
from dataclasses import dataclass

from grader.emulator.cudart.events import Block
from grader.emulator.cudart.state import Allocation, Call, State

PROT_NONE, PROT_READ, PROT_BOTH = 0, 1, 3
_MOST = 4096
DEFAULT, PER_THREAD = 0, 2
Clock = dict[int, int]
"""By stream: so many of its pieces of work."""


@dataclass
class Pending:
    """Memory that work in a stream uses until the host has waited for it."""

    slot: int
    stream: int
    number: int
    first: int
    last: int
    protection: int
    call: Call
    block: Block

    @property
    def pages(self) -> tuple[int, int]:
        return self.first // mmap.PAGESIZE * mmap.PAGESIZE, -(-self.last // mmap.PAGESIZE) * mmap.PAGESIZE


class Waiting:
    """The order that streams, events and the host's waiting give to work."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.clocks: dict[int, Clock] = {DEFAULT: {}}
        self.blocking = {DEFAULT}
        """Streams that wait for the default stream, and it for them."""
        self._host: Clock = {}
        """What the host has waited for."""
        self._pending: dict[int, Pending] = {}
        state.on_free = self.release_all_of

    def work(self, stream: int) -> tuple[int, int]:
        """A new piece of work in a stream: the stream, and its number there."""
        stream = DEFAULT if stream in (1, PER_THREAD) else stream
        clock = self.clocks[stream]
        if stream == DEFAULT:
            for other in self.blocking:
                self.merge(clock, self.clocks[other])
        elif stream in self.blocking:
            self.merge(clock, self.clocks[DEFAULT])
        clock[stream] = clock.get(stream, 0) + 1
        return stream, clock[stream]

    @staticmethod
    def merge(clock: Clock, other: Clock) -> None:
        for stream, number in other.items():
            clock[stream] = max(clock.get(stream, 0), number)

    # -- what the host must not touch -------------------------------------------------------------------------
    def guard(
        self, allocation: Allocation, first: int, nbytes: int, protection: int, stream: int, number: int
    ) -> None:
        """Until the host has waited for this piece of work, it may do no more with these bytes than `protection`."""
        again = (stream, first, first + nbytes, protection)
        for known in self._pending.values():
            if (known.stream, known.first, known.last, known.protection) == again:
                known.number, known.call = number, self.state.call
                self._protect(known)
                return
        slot = next((slot for slot in range(_MOST) if slot not in self._pending), None)
        if slot is None or not nbytes:
            return
        found = Pending(
            slot, stream, number, first, first + nbytes, protection, self.state.call, allocation.block
        )
        self._pending[slot] = found
        self._protect(found)

    def _protect(self, pending: Pending) -> None:
        self.state.native.guard(pending.slot, *pending.pages, pending.protection)

    def waited(self, clock: Clock | None = None) -> None:
        """The host has waited for all work that a clock knows of, or for all there is."""
        self.look_for_faults()
        for each in self.clocks.values() if clock is None else (clock,):
            self.merge(self._host, each)
        done = [p for p in self._pending.values() if clock is None or p.number <= clock.get(p.stream, 0)]
        self._release(done)
        self.state.show_printed()

    def has_waited(self, clock: Clock) -> bool:
        """Whether the host has waited for all work that a clock knows of."""
        return all(number <= self._host.get(stream, 0) for stream, number in clock.items())

    def release_all_of(self, allocation: Allocation) -> None:
        """Memory that is given back: the call that does it waits."""
        self.look_for_faults()
        self._release([p for p in self._pending.values() if p.block is allocation.block])

    def _release(self, done: list[Pending]) -> None:
        for each in done:
            del self._pending[each.slot]
            self.state.native.guard(each.slot, *each.pages, PROT_BOTH)
            self.state.native.guard(each.slot, 0, 0, PROT_BOTH)
        pages = [each.pages for each in done]
        for other in self._pending.values():
            first, last = other.pages
            if any(first < end and start < last for start, end in pages):
                self._protect(other)

    def look_for_faults(self) -> None:
        """Tells of what the host has touched too early since this was last called."""
        for fault in self.state.native.faults():
            pending = self._pending.get(fault.slot)
            if pending is None or not pending.first <= fault.address < pending.last:
                continue
            self.state.note(
                "too_early", call="", frames=fault.frames, detail="write" if fault.writes else "read",
                block=pending.block, other_call=pending.call.name, other=pending.call.frames,
            )  # fmt: skip
