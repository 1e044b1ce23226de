"""What sampled blocks have touched of each allocation: how much, how much one block alone, and which words.

Marks are a byte for each 32-byte sector of the arena. Allocations may be far larger than this machine's memory, so
marks are looked for only in pages that have memory behind them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from mmap import PAGESIZE, mmap
from typing import Any

import numpy as np

from grader.emulator.machine.memory import resident
from grader.emulator.machine.records import Touched
from grader.emulator.runtime.layout import GLOBAL_BASE

Array = np.ndarray[Any, np.dtype[np.int64]]

SECTOR, WORDS = 32, 8
"""Bytes of a sector, and its words."""

FEW = 64 * PAGESIZE
"""So many marks are looked at faster than their pages are."""

MOST_WORDS = 256
"""So many of the stored words of an allocation are named at most, drawn from all of them."""


def marked_ranges(area: mmap, first: int, last: int) -> Iterator[tuple[int, int]]:
    """The parts of the sectors [first, last) outside of which nothing is marked."""
    if last - first < FEW:
        yield first, last
        return
    begin = first // PAGESIZE * PAGESIZE
    pages = np.concatenate([[0], resident(area, begin, last - begin), [0]])
    edges = np.flatnonzero(np.diff(pages)) * PAGESIZE + begin
    for low, high in edges.reshape(-1, 2).tolist():
        yield max(low, first), min(high, last)


@dataclass
class _Allocation:
    """One allocation, and the most sectors and words that a block has touched of it which none had before."""

    low: int
    high: int
    read: int = 0
    words: int = 0
    most_read: int = 0
    most_words: int = 0

    @property
    def first(self) -> int:
        """Its first sector."""
        return (self.low - GLOBAL_BASE) // SECTOR

    @property
    def last(self) -> int:
        """The sector behind its last one."""
        return -(-(self.high - GLOBAL_BASE) // SECTOR)


class TouchedByBlocks:
    """Looked at after every block of a launch."""

    def __init__(self, areas: Sequence[mmap], allocations: Array) -> None:
        self._areas = areas
        self._marks = [np.frombuffer(area, np.uint8) for area in areas]
        self._allocations = [
            _Allocation(low, high) for low, high in allocations.reshape(-1, 2).tolist() if high
        ]

    def look(self) -> None:
        """Take note of what the last block has added."""
        for item in self._allocations:
            read = sum(len(part) for part in self._sectors(0, item))
            words = sum(int(_POPULATION[self._marks[1][part]].sum()) for part in self._sectors(1, item))
            item.most_read = max(item.most_read, read - item.read)
            item.most_words = max(item.most_words, words - item.words)
            item.read, item.words = read, words

    def found(self) -> tuple[Touched, ...]:
        """Every allocation that was touched."""
        return tuple(self._touched(item) for item in self._allocations if item.read or item.words)

    def _touched(self, item: _Allocation) -> Touched:
        stored = self._marks[1]
        strange = sum(int(np.count_nonzero(stored[part] == 0)) for part in self._sectors(0, item))
        return Touched(
            base=item.low,
            read_bytes=SECTOR * item.read,
            written_bytes=4 * item.words,
            most_read_bytes=SECTOR * item.most_read,
            most_written_bytes=4 * item.most_words,
            only_read_bytes=SECTOR * strange,
            words=self._words(item),
        )

    def _words(self, item: _Allocation) -> tuple[int, ...]:
        """Some of the stored words, by their place in the allocation, in order."""
        found = [np.zeros(0, np.int64)]
        for part in self._sectors(1, item):
            bits = np.unpackbits(self._marks[1][part], bitorder="little").reshape(-1, WORDS)
            sector, word = np.nonzero(bits)
            found.append((part[sector] - item.first) * WORDS + word)
        words = np.concatenate(found)
        if len(words) > MOST_WORDS:
            words = np.sort(np.random.default_rng(len(words)).choice(words, MOST_WORDS, replace=False))
        return tuple(words.tolist())

    def _sectors(self, area: int, item: _Allocation) -> Iterator[Array]:
        """The marked sectors of an allocation."""
        for first, last in marked_ranges(self._areas[area], item.first, item.last):
            yield np.flatnonzero(self._marks[area][first:last]) + first


_POPULATION = np.array([number.bit_count() for number in range(256)], np.int64)
