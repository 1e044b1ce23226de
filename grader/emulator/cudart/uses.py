"""What work in streams does to each allocation, and what of it nothing puts in order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.emulator.cudart.state import Allocation, Call, State
from grader.emulator.machine.tracing.extents import Extents
from grader.emulator.streams.accesses import Access, Accesses, Bytes
from grader.emulator.streams.clocks import Clock, Clocks

DEFAULT, PER_THREAD = 0, 2
HOST = -1
"""In place of a stream, for what a call does at once."""
MOST = 1000
"""So many uses of an allocation are kept."""


@dataclass(frozen=True)
class Work:
    """A piece of work in a stream: its number there."""

    stream: int
    number: int


@dataclass(frozen=True, eq=False)
class _Deed:
    call: Call
    stream: int


class Uses:
    """Of a program with more streams than the default one; before it has made another, nothing is noted."""

    def __init__(self, state: State, clocks: Clocks[int]) -> None:
        self.several = False
        """There are several streams."""
        self._state, self._clocks = state, clocks
        self._accesses: dict[int, Accesses[int, _Deed]] = {}
        self._deed = _Deed(state.call, DEFAULT)
        self._told: set[tuple[object, ...]] = set()

    def rows(
        self, allocation: Allocation | None, first: int, pitch: int, width: int, height: int, work: Work, *,
        writes: bool,
    ) -> None:  # fmt: skip
        """A copy or a fill reads or writes rows of an allocation, if it is one; `first` is an address."""
        if not self.several or allocation is None:
            return
        firsts = first - allocation.base + pitch * np.arange(height if pitch > width else 1, dtype=np.int64)
        length = width if pitch > width else width * height
        where = Bytes.of(np.stack([firsts, firsts + length], axis=1))
        self._add(allocation, where, work, self._clocks.of(work.stream), writes, atomic=False)

    def whole(self, allocation: Allocation | None, work: Work) -> None:
        """An allocation is made or given back by a piece of work."""
        if allocation is not None:
            self.rows(allocation, allocation.base, allocation.nbytes, allocation.nbytes, 1, work, writes=True)

    def launch(self, extents: Extents, work: Work, behind: Clock[int]) -> None:
        """A kernel that comes behind all that a clock knows has read and written this."""
        for each in extents.found:
            allocation = self._state.allocation(int(each.parts[0, 0]))
            if allocation is not None:
                atomic = each.action == "atomic" or (each.action == "read" and extents.strong_loads)
                where = Bytes.of(each.parts - allocation.base, each.grain)
                self._add(allocation, where, work, behind, each.action != "read", atomic)

    def forget(self, allocation: Allocation) -> None:
        self._accesses.pop(allocation.base, None)

    def _add(
        self, allocation: Allocation, where: Bytes, work: Work, behind: Clock[int], writes: bool, atomic: bool
    ) -> None:
        if self._deed.call is not self._state.call:
            self._deed = _Deed(self._state.call, work.stream)
        new = Access(where, writes, work.stream, work.number, self._deed, atomic)
        accesses = self._accesses.setdefault(allocation.base, Accesses(MOST))
        met = accesses.add(new, behind, self._clocks.host)
        if met is None:
            return
        old, common = met
        alike = (
            tuple(old.deed.call.frames), tuple(self._state.call.frames), allocation.block.call,
            tuple(allocation.block.frames), old.writes, writes,
        )  # fmt: skip
        if alike in self._told:
            return
        self._told.add(alike)
        streams = {old.deed.stream, work.stream}
        self._state.note(
            "unordered", block=allocation.block, other_call=old.deed.call.name, other=old.deed.call.frames,
            writes=writes, other_writes=old.writes, first=common.first, last=common.last, nbytes=common.nbytes,
            beside_default=DEFAULT in streams and len(streams - {HOST}) > 1, one_stream=len(streams) == 1,
        )  # fmt: skip
