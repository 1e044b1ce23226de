"""What launches leave beside global memory: which sectors they touched, what they overwrote, who was where last."""

from __future__ import annotations

import math
from collections.abc import Sequence
from mmap import PAGESIZE
from typing import Any, Literal

import numpy as np

from grader.emulator.machine.memory import Area, Memory, host_address, reserve, zero
from grader.emulator.machine.records import SECTOR
from grader.emulator.machine.tracing.touched import MarkedPages
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import GLOBAL_BASE

Array = np.ndarray[Any, np.dtype[np.uint8]]

_CHUNK = 1 << 18
"""Sectors whose marks are looked at together."""
_VECTOR_BYTES = 128 << 20
"""For all that is published among the blocks of a launch."""


_MADE = np.array([0xFFC00000, 0x7FC00000, 0xFFF80000, 0x7FF80000], np.uint32)
"""Of a NaN that this machine's arithmetic makes, a single, or the upper half of a double."""

Ranges = Sequence[tuple[int, int]]
"""The sectors of each allocation, first and last + 1."""


class Marks:
    """Which sectors have been touched: loaded; stored and updated, a bit a word."""

    def __init__(self, sectors: int) -> None:
        self._areas = read, write, atomic = [reserve(sectors) for _ in range(3)]
        self.loaded, self.stored = MarkedPages(read), MarkedPages(write, atomic)
        self.updated = MarkedPages(atomic)
        self._plainly_stored = MarkedPages(write)

    def of_action(self, action: Literal["read", "write", "atomic"]) -> MarkedPages:
        """The words that were loaded, stored by plain stores, or updated."""
        return {"read": self.loaded, "write": self._plainly_stored, "atomic": self.updated}[action]

    def slots(self) -> dict[str, int]:
        """The context slots of whoever marks."""
        read, write, atomic = map(host_address, self._areas)
        return {"TOUCHED_READ": read, "TOUCHED_WRITE": write, "TOUCHED_ATOMIC": atomic}

    def arrays(self) -> tuple[Array, Array, Array]:
        """Of all sectors, a byte each: loaded, stored, updated."""
        read, write, atomic = (np.frombuffer(area, np.uint8) for area in self._areas)
        return read, write, atomic

    def move(self, other: Marks, ranges: Ranges) -> None:
        """Add marks that others have made, which are then gone."""
        for mine, area in zip(self.arrays(), other._areas, strict=True):
            theirs, into = MarkedPages(area), mine.reshape(-1, PAGESIZE)
            for first, last in ranges:
                pages = theirs.within(first, last)
                into[pages] |= theirs.of_pages(pages)
        other.clear(ranges)

    def clear(self, ranges: Ranges) -> None:
        for area in self._areas:
            for first, last in ranges:
                zero(area, first, last)


class Traces:
    """Kept from launch to launch, and clean between them."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._sectors = memory.capacity // 32
        self._marks = [Marks(self._sectors)]
        self._bytes = reserve(4 * self._sectors)
        self._owners = reserve(8 * self._sectors)
        self._undo, self._records, self._table, self._vectors = Area(), Area(), Area(), Area()

    @property
    def marks(self) -> Marks:
        """What launches leave their marks in."""
        return self._marks[0]

    def apart(self, count: int) -> list[Marks]:
        """So many sets of marks, of which the first is `marks`."""
        self._marks += [Marks(self._sectors) for _ in range(count - len(self._marks))]
        return self._marks[:count]

    def slots(self, plan: KernelPlan) -> dict[str, int]:
        """The context slots of a launch that is not tracked, and can be undone."""
        return self.marks.slots() | {
            "TOUCHED_BYTES": host_address(self._bytes), "ARENA_BYTES": self.memory.capacity,
            "UNDO": self._undo.address(self.memory.extent() + 32), "RECORDS": 0, "SYNC_TABLE": 0, "VECTOR_LENGTH": 0,
            "LENIENT": 0, "RANDOM": 0, "WARP_TURNS": 0, "PREVIOUS": 0, "WRITTEN": self._written(),
            "OWNERS": host_address(self._owners) if plan.in_place else 0,
        }  # fmt: skip

    def tracking_slots(self, plan: KernelPlan, warps: int, blocks: int, *, late: bool) -> dict[str, int]:
        """The context slots that make a launch a tracked one, of blocks of so many warps, which may see stores late."""
        granules = (self.memory.extent() >> plan.record_shift) + 1
        slots = {
            "UNDO": 0, "OWNERS": 0, "RECORD_SHIFT": plan.record_shift,
            "PREVIOUS": self._undo.address(self.memory.extent() + 32) if late else 0,
            "RECORDS": self._records.address(granules * layout.RECORD_BYTES),
        }  # fmt: skip
        if not plan.fences:
            return slots
        length = warps * blocks if plan.blocks_wait else 0
        most = min(_VECTOR_BYTES // (4 * length), 1 << 16) if length else 0
        return slots | {
            "SYNC_TABLE": self._table.address(layout.SYNC_ENTRIES * layout.SYNC_ENTRY * 8),
            "VECTORS": self._vectors.address(_VECTOR_BYTES + (8 << 16)),
            "FREE_VECTORS": self._vectors.address(_VECTOR_BYTES) + _VECTOR_BYTES,
            "VECTOR_LENGTH": length, "VECTOR_MOST": most, "VECTOR_COUNT": 0, "FREE_COUNT": 0,
            "LENIENT": int(length > 0 and most < 4),
        }  # fmt: skip

    def stored_bytes(self) -> np.ndarray[Any, np.dtype[np.uint32]]:
        """Of each sector, the bytes that stores narrower than a word have stored, a bit each."""
        return np.frombuffer(self._bytes, np.uint32)

    def _written(self) -> int:
        area = self.memory.written()
        return host_address(area) if area else 0

    def keep_written(self) -> None:
        """What the launch has stored and updated counts as written from now on."""
        area, stored = self.memory.written(), self.marks.stored
        if area is None:
            return
        written = np.frombuffer(area, np.uint8).reshape(-1, PAGESIZE)
        for address, nbytes in self.memory.unset():
            first = (address - GLOBAL_BASE) // SECTOR
            pages = stored.within(first, first + -(-nbytes // SECTOR))
            written[pages] |= stored.of_pages(pages)

    # -- what was touched ---------------------------------------------------------------------------------------
    def ranges(self) -> Ranges:
        """Of all allocations."""
        return [
            ((low - GLOBAL_BASE) // 32, -(-(high - GLOBAL_BASE) // 32))
            for low, high in self.memory.table().reshape(-1, 2).tolist()
            if high
        ]

    def sectors(self) -> tuple[int, int]:
        """How many sectors were loaded, and how many stored."""
        ranges = self.ranges()
        return sum(self.marks.loaded.count(*each) for each in ranges), sum(
            self.marks.stored.count(*each) for each in ranges
        )

    def updated_words(self) -> int:
        """How many words atomics have updated."""
        return sum(self.marks.updated.words(*each) for each in self.ranges())

    def conflict(self, plan: KernelPlan, *, again: bool) -> bool:
        """Whether threads may have met in a sector that was loaded, stored or updated in different ways, or whose words
        several have stored; `again`: some words were stored more than once."""
        read, write, atomic = self.marks.arrays()
        owners = np.frombuffer(self._owners, np.uint8)[::8]  # their flags
        pairs = []
        if plan.serial:
            pairs.append((write, atomic))
        if plan.serial and plan.reads_only:
            pairs.append((read, atomic))
        for first, last in self.ranges():
            for at in range(first, last, _CHUNK):
                part = slice(at, min(at + _CHUNK, last))
                if any(bool(np.any(one[part] & other[part])) for one, other in pairs):
                    return True
                met = read[part] & write[part]
                if plan.in_place and np.any(write[part] if again else met):
                    flags = owners[part]
                    met = (met | flags & layout.STORED_TWICE)[flags & layout.SHARED != 0]
                if np.any(met):
                    return True
        return False

    def stored_nan(self) -> bool:
        """Whether a word that was stored is a NaN as arithmetic makes it."""
        marks = self.marks.stored
        for first, last in self.ranges():
            for page in marks.within(first, last):
                start = max(first, page * PAGESIZE)
                count = min(last, (page + 1) * PAGESIZE) - start
                words = self.memory.words(start * 8, count * 8)
                found = np.flatnonzero(np.isin(words, _MADE))
                if len(found):
                    stored = np.unpackbits(marks.of_sectors(start + np.arange(count)), bitorder="little")
                    if stored[found].any():
                        return True
        return False

    def undo(self) -> None:
        """Puts back what memory held before the launch."""
        _, write, atomic = self.marks.arrays()
        kept = self._undo.view(np.uint32)
        for first, last in self.ranges():
            marks = np.unpackbits(write[first:last] | atomic[first:last], bitorder="little")
            words = np.flatnonzero(marks) + first * 8
            self.memory.restore(words, kept[words])

    def give_back(self, plan: KernelPlan) -> None:
        """Removes all marks, and what else takes memory, of a launch that was stopped and cannot be undone."""
        self.clear(plan, tracked=True)
        self._undo.clear()

    def clear(self, plan: KernelPlan, *, tracked: bool) -> None:
        """Removes all marks."""
        ranges = self.ranges()
        self.marks.clear(ranges)
        if plan.record_shift < 2:
            for first, last in ranges:
                zero(self._bytes, first * 4, last * 4)
        if plan.in_place and not tracked:
            for first, last in ranges:
                zero(self._owners, first * 8, last * 8)
        for kept in (self._records, self._table, self._vectors) if tracked else ():
            kept.clear()


def warps_of(block: tuple[int, int, int]) -> int:
    """Warps of a block."""
    return -(-math.prod(block) // layout.LANES)
