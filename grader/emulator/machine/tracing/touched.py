"""What sampled blocks have touched of each allocation: how much, how much one block alone, and which words.

Marks are a byte for each 32-byte sector of the arena. Allocations may be far larger than this machine's memory, so
marks are looked for only in pages that have memory behind them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from mmap import PAGESIZE, mmap
from typing import Any

import numpy as np

from grader.emulator.machine.memory import host_address, resident
from grader.emulator.machine.records import SECTOR, WORD, WORDS, Touched
from grader.emulator.runtime import build
from grader.emulator.runtime.layout import GLOBAL_BASE

Array = np.ndarray[Any, np.dtype[np.int64]]
Marks = np.ndarray[Any, np.dtype[np.uint8]]

FEW = 64
"""So many pages of marks are looked at faster than it takes to ask which of them have memory behind them."""

MOST_WORDS, MOST_OWN = 256, 64
"""So many of the stored words of an allocation are named at most, and of those that one of the first clusters has
stored there: the first, the last, and others that are drawn. The first clusters are the ends of the grid: their
indices are the largest, and where these wrap, few words among all are wrong."""

NARROW = 1 << 16
"""Clusters that have stored more words together go over the whole array, where no place is their own."""


def _none() -> Array:
    return np.zeros(0, np.int64)


@functools.cache
def _counting() -> Callable[..., int]:
    return build.load().function("count_marks", 5)


class MarkedPages:
    """Marks of one kind: those in any of one or two areas, a byte for each sector."""

    def __init__(self, *areas: mmap) -> None:
        self._areas = areas
        self._pages = [np.frombuffer(area, np.uint8).reshape(-1, PAGESIZE) for area in areas]

    def within(self, first: int, last: int) -> Array:
        """The pages that may hold marks of the sectors [first, last). No other allocation's marks are there, as the
        gaps between allocations are many pages of marks."""
        begin, end = first // PAGESIZE, -(-last // PAGESIZE)
        if end - begin < FEW:
            return np.arange(begin, end)
        backed = [resident(area, begin * PAGESIZE, (end - begin) * PAGESIZE) for area in self._areas]
        return np.flatnonzero(functools.reduce(np.bitwise_or, backed)) + begin

    def of_pages(self, pages: Array) -> Marks:
        """The marks of some pages, in ascending order, a row for each."""
        if len(pages) and pages[-1] - pages[0] == len(pages) - 1:
            # Pages in a row are not copied.
            return self._united([area[pages[0] : pages[-1] + 1] for area in self._pages])
        return self._united([area[pages] for area in self._pages])

    def of_sectors(self, sectors: Array) -> Marks:
        return self._united([area[sectors // PAGESIZE, sectors % PAGESIZE] for area in self._pages])

    @staticmethod
    def _united(marks: Sequence[Marks]) -> Marks:
        return marks[0] if len(marks) == 1 else functools.reduce(np.bitwise_or, marks)

    def words_and_pages(self, first: int, last: int) -> tuple[int, int]:
        """How many words of the sectors [first, last) are marked, and how many pages hold these marks."""
        pages, marked = self.within(first, last), np.zeros(1, np.int64)
        addresses = [host_address(area) for area in self._areas]
        words = _counting()(addresses[0], addresses[-1], pages.ctypes.data, len(pages), marked.ctypes.data)
        return words, int(marked[0])

    def count(self, first: int, last: int) -> int:
        """How many of the sectors [first, last) are marked."""
        return int(np.count_nonzero(self.of_pages(self.within(first, last))))

    def words(self, first: int, last: int) -> int:
        """How many of their words are marked."""
        return self.words_and_pages(first, last)[0]


@dataclass
class _Allocation:
    """One allocation, how many of its words were touched, and how many one block alone, which none had before that was
    run by the same strand."""

    low: int
    high: int
    read: int = 0
    written: int = 0
    most_read: int = 0
    most_written: int = 0
    read_elsewhere: int = 0
    written_elsewhere: int = 0
    named: Array = field(default_factory=_none)
    known: Array = field(default_factory=_none)
    """Words that the first clusters have stored: those that are named, and all."""

    def add(self, read: int, written: int, blocks: int) -> None:
        """Take note of what so many blocks of a cluster have read and written here that none had before: equal shares,
        as far as is known."""
        self.most_read = max(self.most_read, -(-read // blocks))
        self.most_written = max(self.most_written, -(-written // blocks))
        self.read += read
        self.written += written

    def join(self, other: _Allocation) -> None:
        """Take note of what other blocks have done here, but for how much they have touched together."""
        self.most_read = max(self.most_read, other.most_read)
        self.most_written = max(self.most_written, other.most_written)
        self.read_elsewhere += other.read_elsewhere
        self.written_elsewhere += other.written_elsewhere
        self.named = np.union1d(self.named, other.named)

    @property
    def first(self) -> int:
        """Its first sector."""
        return (self.low - GLOBAL_BASE) // SECTOR

    @property
    def last(self) -> int:
        """The sector behind its last one."""
        return -(-(self.high - GLOBAL_BASE) // SECTOR)


class TouchedByBlocks:
    """Looked at after every block of a launch, or every cluster of so many blocks. Some words are named of each of the
    `first` clusters."""

    def __init__(
        self, loaded: MarkedPages, stored: MarkedPages, allocations: Array, blocks: int, first: int
    ) -> None:
        self._loaded, self._stored = loaded, stored
        self._blocks, self._first = blocks, first
        self._allocations = [
            _Allocation(low, high) for low, high in allocations.reshape(-1, 2).tolist() if high
        ]

    def look(self) -> int:
        """Take note of what the last block has added. Returns how many pages hold marks, which is the same on every
        machine, as how many have memory behind them is not."""
        pages = 0
        added = []
        for item in self._allocations:
            read, pages_read = self._loaded.words_and_pages(item.first, item.last)
            written, pages_written = self._stored.words_and_pages(item.first, item.last)
            pages += pages_read + pages_written
            added.append((read - item.read, written - item.written))
        reads, writes = (any(counts) for counts in zip(*added, strict=True)) if added else (False, False)
        for item, (read, written) in zip(self._allocations, added, strict=True):
            item.add(read, written, self._blocks)
            item.read_elsewhere += self._blocks * (reads and not read)
            item.written_elsewhere += self._blocks * (writes and not written)
            if self._first > 0 and written and item.written <= NARROW:
                words = self._words(item, _sectors(self._stored, item))
                own = np.setdiff1d(words, item.known, assume_unique=True)
                item.named, item.known = np.union1d(item.named, _some(own, MOST_OWN)), words
        self._first -= 1
        return pages

    def join(self, others: Iterable[TouchedByBlocks]) -> None:
        """Take note of what other blocks have touched, whose marks have been added to these."""
        for other in others:
            for item, same in zip(self._allocations, other._allocations, strict=True):
                item.join(same)
        for item in self._allocations:
            item.read = self._loaded.words(item.first, item.last)
            item.written = self._stored.words(item.first, item.last)

    def found(self) -> tuple[Touched, ...]:
        """Every allocation that was touched."""
        return tuple(self._touched(item) for item in self._allocations if item.read or item.written)

    def _touched(self, item: _Allocation) -> Touched:
        loaded, stored = (kind.within(item.first, item.last) for kind in (self._loaded, self._stored))
        both = np.intersect1d(loaded, stored, assume_unique=True)
        written_as_well = (self._loaded.of_pages(both) != 0) & (self._stored.of_pages(both) != 0)
        only_read = np.count_nonzero(self._loaded.of_pages(loaded)) - np.count_nonzero(written_as_well)
        return Touched(
            base=item.low,
            read_bytes=WORD * item.read,
            written_bytes=WORD * item.written,
            most_read_bytes=WORD * item.most_read,
            most_written_bytes=WORD * item.most_written,
            only_read_bytes=SECTOR * int(only_read),
            words=self._some_words(item),
            read_elsewhere=item.read_elsewhere,
            written_elsewhere=item.written_elsewhere,
        )

    def _some_words(self, item: _Allocation) -> tuple[int, ...]:
        """Some of the stored words, by their place in the allocation, in order."""
        words = self._words(item, _some(_sectors(self._stored, item), MOST_WORDS))
        return tuple(np.union1d(item.named, _some(words, MOST_WORDS)).tolist())

    def _words(self, item: _Allocation, sectors: Array) -> Array:
        """The stored words of some sectors."""
        bits = np.unpackbits(self._stored.of_sectors(sectors), bitorder="little").reshape(-1, WORDS)
        sector, word = np.nonzero(bits)
        found: Array = (sectors[sector] - item.first) * WORDS + word
        return found


def _some(places: Array, most: int) -> Array:
    """At most so many of them, in order: the ends, where faults are, and others that are drawn from all."""
    if len(places) <= most:
        return places
    drawn = np.random.default_rng(len(places)).choice(places[1:-1], most - 2, replace=False)
    return np.concatenate([places[:1], np.sort(drawn), places[-1:]])


def _sectors(kind: MarkedPages, item: _Allocation) -> Array:
    """The marked sectors of an allocation."""
    pages = kind.within(item.first, item.last)
    marked = np.flatnonzero(kind.of_pages(pages) != 0)
    return pages[marked // PAGESIZE] * PAGESIZE + marked % PAGESIZE
