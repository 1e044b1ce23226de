"""Which bytes of each allocation a launch reads and writes, from the marks that it leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from mmap import PAGESIZE
from typing import Any, Literal

import numpy as np

from grader.emulator.machine.records import SECTOR, WORD, WORDS
from grader.emulator.machine.tracing.touched import MarkedPages
from grader.emulator.machine.tracing.traces import Traces
from grader.emulator.ptx.instructions import is_strong
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.runtime.layout import GLOBAL_BASE

Parts = np.ndarray[Any, np.dtype[np.int64]]
StoredBytes = np.ndarray[Any, np.dtype[np.uint32]]

MOST_PARTS = 1 << 16
"""So many are kept of one allocation: the first."""


@dataclass(frozen=True)
class Extent:
    """Bytes of one allocation."""

    action: Literal["read", "write", "atomic"]
    """Strong stores, volatile ones among them, count as atomics."""
    parts: Parts
    """int64 of shape (parts, 2): the addresses of the first byte of each and of that behind its last, in order."""
    grain: int
    """1; WORD for reads of a kernel with narrower accesses, of which it is known in which words they were. Textures
    and bulk copies may be narrower."""


@dataclass
class Extents:
    """Filled in by the launch that it is given to."""

    found: list[Extent] = field(default_factory=list)
    strong_loads: bool = False
    """The kernel has volatile loads, or others by which it may look at what another kernel updates meanwhile."""

    def take(self, traces: Traces, plan: KernelPlan) -> None:
        """What the marks say, before they are removed."""
        narrow = plan.record_shift < 2
        narrow_reads = narrow or plan.reads_only or plan.transactions
        self.strong_loads = any(site.operation == "ld" and is_strong(site.inst) for site in plan.sites)
        self.found = [
            *_of_kind(traces, "read", WORD if narrow_reads else 1),
            *_of_kind(traces, "write", 1, traces.stored_bytes() if narrow else None),
            *_of_kind(traces, "atomic", 1),
        ]


def _of_kind(
    traces: Traces, action: Literal["read", "write", "atomic"], grain: int, narrow: StoredBytes | None = None
) -> Iterator[Extent]:
    marks = traces.marks.of_action(action)
    for first, last in traces.ranges():
        parts = _parts(marks, first, last, narrow)
        if len(parts):
            yield Extent(action, parts[:MOST_PARTS], grain)


def _parts(marks: MarkedPages, first: int, last: int, narrow: StoredBytes | None) -> Parts:
    """The marked bytes of sectors [first, last). `narrow` are those of words that were not stored whole, 32 bits a
    sector."""
    pages = marks.within(first, last)
    found = marks.of_pages(pages)
    full = (found == 0xFF).all(axis=1)
    if narrow is not None:
        each = narrow.reshape(-1, PAGESIZE)[pages]
        full &= ((each == 0) | (each == 0xFFFFFFFF)).all(axis=1)
    whole = pages[full] * PAGESIZE * SECTOR
    parts = [np.stack([whole, whole + PAGESIZE * SECTOR], axis=1)]
    page, place = np.nonzero(found[~full])
    sectors = pages[~full][page] * PAGESIZE + place
    bits = np.unpackbits(found[~full][page, place], bitorder="little").reshape(-1, WORDS)
    unit = WORD
    if narrow is not None:
        unit, bits = 1, np.repeat(bits, WORD, axis=1)
        stored = np.unpackbits(narrow[sectors].view(np.uint8), bitorder="little").reshape(-1, WORDS, WORD)
        partly = np.repeat(stored.any(axis=2), WORD, axis=1)
        bits = np.where(partly, stored.reshape(-1, SECTOR), bits)
    sector, item = np.nonzero(bits)
    places = sectors[sector] * SECTOR + item * unit
    parts.append(np.stack([places, places + unit], axis=1))
    together = np.concatenate(parts)
    return _joined(together[np.argsort(together[:, 0], kind="stable")]) + GLOBAL_BASE


def _joined(parts: Parts) -> Parts:
    """Parts in order, those that touch made one."""
    if not len(parts):
        return parts
    apart = np.flatnonzero(parts[1:, 0] != parts[:-1, 1])
    firsts = parts[np.concatenate([[0], apart + 1]), 0]
    return np.stack([firsts, parts[np.concatenate([apart, [-1]]), 1]], axis=1)
