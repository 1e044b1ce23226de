"""What launches leave beside global memory: which sectors they touched, what they overwrote, who was where last."""

from __future__ import annotations

import math
from collections.abc import Iterator
from mmap import MADV_DONTNEED, PAGESIZE, mmap
from typing import Any

import numpy as np

from grader.emulator.machine.memory import Area, Memory, host_address, reserve
from grader.emulator.machine.tracing.touched import MarkedPages
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import GLOBAL_BASE

_CHUNK = 1 << 18
"""Sectors whose marks are looked at together."""
_VECTOR_BYTES = 128 << 20
"""For all that is published among the blocks of a launch."""


class Traces:
    """Kept from launch to launch, and clean between them."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        sectors = memory.capacity // 32
        self._touched = read, write, atomic = [reserve(sectors) for _ in range(3)]
        """Loaded; stored and updated, a bit a word."""
        self.loaded, self.stored = MarkedPages(read), MarkedPages(write, atomic)
        self._updated = MarkedPages(atomic)
        self._bytes = reserve(4 * sectors)
        self._undo, self._records, self._table, self._vectors = Area(), Area(), Area(), Area()

    def slots(self) -> dict[str, int]:
        """The context slots of a launch that is not tracked, and can be undone."""
        read, write, atomic = map(host_address, self._touched)
        return {
            "TOUCHED_READ": read, "TOUCHED_WRITE": write, "TOUCHED_ATOMIC": atomic,
            "TOUCHED_BYTES": host_address(self._bytes), "ARENA_BYTES": self.memory.capacity,
            "UNDO": self._undo.address(self.memory.extent() + 32), "RECORDS": 0, "SYNC_TABLE": 0, "VECTOR_LENGTH": 0,
            "LENIENT": 0, "RANDOM": 0, "PREVIOUS": 0,
        }  # fmt: skip

    def tracking_slots(self, plan: KernelPlan, warps: int, blocks: int, *, late: bool) -> dict[str, int]:
        """The context slots that make a launch a tracked one, of blocks of so many warps, which may see stores late."""
        granules = (self.memory.extent() >> plan.record_shift) + 1
        slots = {
            "UNDO": 0, "RECORD_SHIFT": plan.record_shift,
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

    # -- what was touched ---------------------------------------------------------------------------------------
    def _ranges(self) -> Iterator[tuple[int, int]]:
        """The sectors of each allocation, first and last + 1."""
        for low, high in self.memory.table().reshape(-1, 2).tolist():
            if high:
                yield (low - GLOBAL_BASE) // 32, -(-(high - GLOBAL_BASE) // 32)

    def sectors(self) -> tuple[int, int]:
        """How many sectors were loaded, and how many stored."""
        ranges = list(self._ranges())
        return sum(self.loaded.count(*each) for each in ranges), sum(
            self.stored.count(*each) for each in ranges
        )

    def updated_words(self) -> int:
        """How many words atomics have updated."""
        return sum(self._updated.words(*each) for each in self._ranges())

    def conflict(self, plan: KernelPlan) -> bool:
        """Whether threads may have met in a sector that was loaded, stored or updated in different ways."""
        read, write, atomic = (np.frombuffer(area, np.uint8) for area in self._touched)
        pairs = [(read, write)]
        if plan.serial:
            pairs.append((write, atomic))
        if plan.serial and plan.reads_only:
            pairs.append((read, atomic))
        return any(
            bool(np.any(one[at : min(at + _CHUNK, last)] & other[at : min(at + _CHUNK, last)]))
            for one, other in pairs
            for first, last in self._ranges()
            for at in range(first, last, _CHUNK)
        )

    def undo(self) -> None:
        """Puts back what memory held before the launch."""
        _, write, atomic = (np.frombuffer(area, np.uint8) for area in self._touched)
        kept = self._undo.view(np.uint32)
        for first, last in self._ranges():
            marks = np.unpackbits(write[first:last] | atomic[first:last], bitorder="little")
            words = np.flatnonzero(marks) + first * 8
            self.memory.restore(words, kept[words])

    def clear(self, plan: KernelPlan, *, tracked: bool) -> None:
        """Removes all marks."""
        areas = [(area, 1) for area in self._touched]
        if plan.record_shift < 2:
            areas.append((self._bytes, 4))
        for first, last in self._ranges():
            for area, width in areas:
                _zero(area, first * width, last * width)
        for kept in (self._records, self._table, self._vectors) if tracked else ():
            kept.clear()


def _zero(area: mmap, first: int, last: int) -> None:
    marks: Any = np.frombuffer(area, np.uint8)
    inner, end = -(-first // PAGESIZE) * PAGESIZE, last // PAGESIZE * PAGESIZE
    if end - inner < 64 * PAGESIZE:
        marks[first:last] = 0
        return
    marks[first:inner] = 0
    marks[end:last] = 0
    area.madvise(MADV_DONTNEED, inner, end - inner)


def warps_of(block: tuple[int, int, int]) -> int:
    """Warps of a block."""
    return -(-math.prod(block) // layout.LANES)
