"""Who has waited for what: streams as vector clocks, and memory that the host must not touch before it has waited."""

from __future__ import annotations

import mmap
from dataclasses import dataclass

from grader.emulator.cudart.events import Block
from grader.emulator.cudart.state import Allocation, Call, State
from grader.emulator.cudart.uses import DEFAULT, HOST, PER_THREAD, Uses, Work
from grader.emulator.streams.clocks import Clock, Clocks, join

PROT_NONE, PROT_READ, PROT_BOTH = 0, 1, 3
_MOST = 4096
LEGACY = 1
"""Another name of the default stream."""


@dataclass
class Pending:
    """Memory that work in a stream uses until the host has waited for it."""

    slot: int
    work: Work
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
        self.clocks: Clocks[int] = Clocks(DEFAULT, [PER_THREAD])
        self.uses = Uses(state, self.clocks)
        self.nodes = set[int]()
        """Threads of graphs' nodes, which come behind what they depend on, and not behind the host's waiting."""
        self._pending: dict[int, Pending] = {}
        self._kernels: dict[int, Clock[int]] = {}
        """The clocks of streams right behind the last kernel of each."""
        state.on_free = self.release_all_of

    def enqueue(self, stream: int) -> Clock[int]:
        """The clock of a stream that is given something now."""
        return self.clocks.of(stream) if stream in self.nodes else self.clocks.enqueue(_named(stream))

    def given(self, stream: int) -> Clock[int]:
        """The clock of all that a stream has been given: the default one waits for those that keep to its order."""
        return self.clocks.of(stream) if _named(stream) else self.enqueue(DEFAULT)

    def work(self, stream: int) -> Work:
        """A new piece of work in a stream."""
        self.uses.several |= stream == PER_THREAD
        return Work(_named(stream), self.clocks.step(_named(stream), self.enqueue(stream)))

    def at_once(self) -> Work:
        """A piece of work of the host's own: behind all that the host has waited for, and nothing else."""
        clock = self.clocks.of(HOST)
        join(clock, self.clocks.host)
        return Work(HOST, self.clocks.step(HOST, clock))

    def kernel(self, stream: int, *, early: bool) -> tuple[Work, Clock[int]]:
        """A kernel in a stream, and the clock of what comes before it though it waits for nothing itself: where it
        begins early, not the kernel right before it, unless the host has waited for that."""
        self.uses.several |= early
        before = dict(self.enqueue(stream))
        work = self.work(stream)
        clock, last = self.clocks.of(work.stream), work.number - 1
        right_behind = (
            before == self._kernels.get(work.stream) and self.clocks.host.get(work.stream, 0) < last
        )
        self._kernels[work.stream] = dict(clock)
        return work, before | {work.stream: last - 1} if early and right_behind else clock

    def new_stream(self, stream: int, *, blocking: bool) -> None:
        """A stream that waits for the default stream, and it for that, or does not."""
        self.uses.several = True
        if blocking:
            self.clocks.blocking.add(stream)

    def end_stream(self, stream: int) -> None:
        """It is given no more work; the default stream still waits for what it has."""
        if stream in self.clocks.blocking:
            join(self.clocks.of(DEFAULT), self.clocks.of(stream))
            self.clocks.blocking.remove(stream)

    # -- what the host must not touch -------------------------------------------------------------------------
    def guard(self, allocation: Allocation, first: int, nbytes: int, protection: int, work: Work) -> None:
        """Until the host has waited for this piece of work, it may do no more with these bytes than `protection`."""
        again = (work.stream, first, first + nbytes, protection)
        for known in self._pending.values():
            if (known.work.stream, known.first, known.last, known.protection) == again:
                known.work, known.call = work, self.state.call
                self._protect(known)
                return
        slot = next((slot for slot in range(_MOST) if slot not in self._pending), None)
        if slot is None or not nbytes:
            return
        found = Pending(slot, work, first, first + nbytes, protection, self.state.call, allocation.block)
        self._pending[slot] = found
        self._protect(found)

    def _protect(self, pending: Pending) -> None:
        self.state.native.guard(pending.slot, *pending.pages, pending.protection)

    def waited(self, clock: Clock[int] | None = None) -> None:
        """The host has waited for all work that a clock knows of, or for all there is."""
        self.look_for_faults()
        self.clocks.host_waits(clock)
        self._release([each for each in self._pending.values() if self._is_done(each.work)])
        self.state.show_printed()

    def has_waited(self, clock: Clock[int]) -> bool:
        """Whether the host has waited for all work that a clock knows of."""
        return all(self._is_done(Work(*each)) for each in clock.items())

    def _is_done(self, work: Work) -> bool:
        return work.number <= self.clocks.host.get(work.stream, 0)

    def release_all_of(self, allocation: Allocation) -> None:
        """Memory that is given back: the call that does it waits."""
        self.look_for_faults()
        self.uses.forget(allocation)
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
                "too_early", call="", frames=fault.frames, writes=fault.writes,
                block=pending.block, other_call=pending.call.name, other=pending.call.frames,
            )  # fmt: skip


def _named(stream: int) -> int:
    """A stream by its one name."""
    return DEFAULT if stream == LEGACY else stream
