"""What one block of a launch accesses of each array: as a whole, by one instruction of a warp, by one thread."""

from __future__ import annotations

import numpy as np

from grader.emulator.machine.findings import Launched, source_name
from grader.emulator.machine.records import Accessed, Action, TracedSpace
from grader.emulator.machine.worker import Array
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import (
    LANES,
    T_ADDRESSES,
    T_BLOCK,
    T_COUNT,
    T_ENTRIES,
    T_KIND,
    T_MASK,
    T_ROOM,
    T_SPACE,
    T_WARP,
    T_WIDTH,
    TRACE_ENTRY,
)

ROOM = 1 << 18
"""Warp instructions that are kept. A block that accesses memory more often is one that no picture shows."""

_READS = (layout.LOAD, layout.STRONG_LOAD, layout.READ_ONLY)
_ATOMICS = (layout.ATOMIC, layout.REDUCTION)
_SPACES: dict[int, TracedSpace] = {
    layout.IN_GLOBAL: "global",
    layout.IN_SHARED: "shared",
    layout.IN_CONSTANT: "const",
}
_ACTIONS: tuple[Action, ...] = ("read", "write", "atomic")


class BlockTrace:
    """Where native code notes the accesses of a block, and what they come to."""

    def __init__(self, block: int) -> None:
        self._slots: Array = np.zeros(
            T_ENTRIES + ROOM * TRACE_ENTRY, np.int64
        )  # takes room only where written
        self._slots[T_BLOCK], self._slots[T_ROOM] = block, ROOM

    def begin(self) -> int:
        """Forget what was noted. Returns the address of the trace, for the context's slot."""
        self._slots[T_COUNT] = 0
        return self._slots.ctypes.data

    def accessed(self, launched: Launched) -> tuple[Accessed, ...]:
        """A record for each array and way of accessing it, in the order in which the block began to; nothing of a
        block that accessed memory too often."""
        count = int(self._slots[T_COUNT])
        if not 0 < count <= ROOM:
            return ()
        entries = self._slots[T_ENTRIES : T_ENTRIES + count * TRACE_ENTRY].reshape(count, TRACE_ENTRY)
        lanes = (entries[:, T_MASK, None] >> np.arange(LANES)) & 1 == 1
        number, lane = np.nonzero(lanes)
        address = entries[number, T_ADDRESSES + lane]
        kind = entries[number, T_KIND]
        action = np.where(np.isin(kind, _READS), 0, np.where(np.isin(kind, _ATOMICS), 2, 1))
        found = []
        for space, arrays in _arrays(launched).items():
            starts = np.array([start for start, _, _ in arrays], np.int64)
            place = np.searchsorted(starts, address, side="right") - 1
            here = (entries[number, T_SPACE] == space) & (place >= 0)
            for key in np.unique(place[here] * len(_ACTIONS) + action[here]).tolist():
                which, how = divmod(key, len(_ACTIONS))
                chosen = np.flatnonzero(here & (place == which) & (action == how))
                part = _Accesses(entries, number[chosen], lane[chosen], address[chosen] - starts[which])
                found.append(
                    (int(number[chosen[0]]), part.record(_SPACES[space], _ACTIONS[how], *arrays[which]))
                )
        return tuple(record for _, record in sorted(found, key=lambda pair: pair[0]))


def _arrays(launched: Launched) -> dict[int, list[tuple[int, int, str | None]]]:
    """What addresses lie in, by space: where it begins, its bytes, its name in the source."""
    table = launched.memory.table().reshape(-1, 2).tolist()
    names = {address: source_name(name) for name, (address, _) in launched.variables.items()}
    allocated = [(low, high - low, names.get(low)) for low, high in table if high]
    shared = [
        (start, nbytes or launched.shared_bytes - start, source_name(name))
        for name, (start, nbytes) in sorted(launched.plan.shared.items(), key=lambda item: item[1])
    ]
    return {layout.IN_GLOBAL: allocated, layout.IN_SHARED: shared, layout.IN_CONSTANT: allocated}


class _Accesses:
    """Accesses to one array in one way, one a lane: the entry that each belongs to, its lane, its offset."""

    def __init__(self, entries: Array, number: Array, lane: Array, offset: Array) -> None:
        self.number, self.lane, self.offset = number, lane, offset
        self.warp, self.width = entries[number, T_WARP], entries[number, T_WIDTH]

    def record(
        self, space: TracedSpace, action: Action, base: int, nbytes: int, name: str | None
    ) -> Accessed:
        everything = np.ones(len(self.number), bool)
        first = self.warp == 0
        numbers, lanes = np.unique(self.number[first], return_counts=True)
        one = self.number == numbers[np.argmax(lanes)] if len(numbers) else ~everything
        thread = first & (self.lane == 0)
        return Accessed(
            space,
            action,
            base,
            nbytes,
            block=self._bytes(everything),
            warp=self._bytes(one),
            thread=self._bytes(thread),
            array=name,
        )

    def _bytes(self, chosen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[int, ...]:
        """The bytes of some of the accesses, as pairs."""
        if not chosen.any():
            return ()
        starts, widths = np.unique(np.stack([self.offset[chosen], self.width[chosen]]), axis=1)
        ends = np.maximum.accumulate(starts + widths)
        last = np.append(starts[1:] > ends[:-1], True)  # of a run: a gap lies behind it, or nothing
        return tuple(np.stack([starts[np.roll(last, 1)], ends[last]], axis=1).ravel().tolist())
