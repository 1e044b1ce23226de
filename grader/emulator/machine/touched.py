"""What sampled blocks have touched of each allocation: how much, how much one block alone, and which words.

Marks are a byte for each 32-byte sector of the arena. Allocations may be far larger than this machine's memory, so
marks are looked for only in pages that have memory behind them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from mmap import PAGESIZE, mmap
from typing import Any

import numpy as np

from grader.emulator.machine.memory import resident
from grader.emulator.machine.records import Touched
from grader.emulator.runtime.layout import GLOBAL_BASE

Array = np.ndarray[Any, np.dtype[np.int64]]
Marks = np.ndarray[Any, np.dtype[np.uint8]]

SECTOR, WORDS = 32, 8
"""Bytes of a sector, and its words."""

FEW = 64
"""So many pages of marks are looked at faster than it takes to ask which of them have memory behind them."""

MOST_WORDS = 256
"""So many of the stored words of an allocation are named at most, drawn from all of them."""


def marked_pages(area: mmap, first: int, last: int) -> Array:
    """The pages of `area` that may hold marks of the sectors [first, last). No other allocation's marks are there, as
    the gaps between allocations are many pages of marks."""
    begin, end = first // PAGESIZE, -(-last // PAGESIZE)
    if end - begin < FEW:
        return np.arange(begin, end)
    return np.flatnonzero(resident(area, begin * PAGESIZE, (end - begin) * PAGESIZE)) + begin


def pages_of(area: mmap) -> Marks:
    """All marks, a row for each page."""
    return np.frombuffer(area, np.uint8).reshape(-1, PAGESIZE)


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
        self._pages = [pages_of(area) for area in areas]
        self._allocations = [
            _Allocation(low, high) for low, high in allocations.reshape(-1, 2).tolist() if high
        ]

    def look(self) -> int:
        """Take note of what the last block has added. Returns how many pages of marks were looked at."""
        pages = 0
        for item in self._allocations:
            loaded, stored = self._marks(0, item), self._marks(1, item)
            pages += len(loaded) + len(stored)
            read = int(np.count_nonzero(loaded))
            words = int(_POPULATION[stored[stored != 0]].sum())
            item.most_read = max(item.most_read, read - item.read)
            item.most_words = max(item.most_words, words - item.words)
            item.read, item.words = read, words
        return pages

    def found(self) -> tuple[Touched, ...]:
        """Every allocation that was touched."""
        return tuple(self._touched(item) for item in self._allocations if item.read or item.words)

    def _touched(self, item: _Allocation) -> Touched:
        loaded = self._sectors(0, item)
        strange = np.count_nonzero(self._stored(loaded) == 0)
        return Touched(
            base=item.low,
            read_bytes=SECTOR * item.read,
            written_bytes=4 * item.words,
            most_read_bytes=SECTOR * item.most_read,
            most_written_bytes=4 * item.most_words,
            only_read_bytes=SECTOR * int(strange),
            words=self._words(item),
        )

    def _words(self, item: _Allocation) -> tuple[int, ...]:
        """Some of the stored words, by their place in the allocation, in order."""
        sectors = self._sectors(1, item)
        bits = np.unpackbits(self._stored(sectors), bitorder="little").reshape(-1, WORDS)
        sector, word = np.nonzero(bits)
        words = (sectors[sector] - item.first) * WORDS + word
        if len(words) > MOST_WORDS:
            words = np.sort(np.random.default_rng(len(words)).choice(words, MOST_WORDS, replace=False))
        return tuple(words.tolist())

    def _marks(self, area: int, item: _Allocation) -> Marks:
        """The marks of an allocation, as far as there may be any."""
        return self._pages[area][marked_pages(self._areas[area], item.first, item.last)]

    def _sectors(self, area: int, item: _Allocation) -> Array:
        """The marked sectors of an allocation."""
        page, mark = np.nonzero(self._marks(area, item) != 0)
        return marked_pages(self._areas[area], item.first, item.last)[page] * PAGESIZE + mark

    def _stored(self, sectors: Array) -> Marks:
        """Which words of some sectors were stored."""
        return self._pages[1][sectors // PAGESIZE, sectors % PAGESIZE]


_POPULATION = np.array([number.bit_count() for number in range(256)], np.int64)
