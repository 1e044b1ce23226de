"""Accesses to one memory, and which of them nothing puts in order.

Two accesses to the same bytes, of which one writes, are a fault unless one happens before the other by the clocks. So
it is found in every run, not only where the timing is unlucky.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from grader.emulator.streams.clocks import Clock

Thread = TypeVar("Thread", bound=Hashable)
Deed = TypeVar("Deed")
Parts = np.ndarray[Any, np.dtype[np.int64]]
"""int64 of shape (parts, 2): the first byte of each and the one behind its last; they lie apart, in order."""


@dataclass(frozen=True, eq=False)
class Bytes:
    """Bytes of a memory: those of `parts`, or all from the first to before the last."""

    first: int
    last: int
    parts: Parts | None = None
    grain: int = 1
    """What is known: that some byte of each so many is touched, which begin at a multiple of it; of 1, that all are."""

    @classmethod
    def of(cls, parts: Parts, grain: int = 1) -> Bytes:
        """Those of one part or more."""
        return cls(int(parts[0, 0]), int(parts[-1, 1]), parts if len(parts) > 1 else None, grain)

    def common(self, other: Bytes) -> Common | None:
        """The bytes that are in both for certain; None where there are none."""
        first, last = max(self.first, other.first), min(self.last, other.last)
        if first >= last:
            return None
        if self.parts is None and other.parts is None and self.grain == other.grain:
            return Common(first, last, last - first)
        mine, theirs = self._in_whole(other.grain), other._in_whole(self.grain)
        counts = _below(theirs, mine[:, 1]) - _below(theirs, mine[:, 0])
        (hit,) = np.nonzero(counts)
        if not len(hit):
            return None
        (begin, _), (_, end) = mine[hit[0]], mine[hit[-1]]
        from_ = theirs[np.searchsorted(theirs[:, 1], begin, side="right"), 0]
        until = theirs[np.searchsorted(theirs[:, 0], end, side="left") - 1, 1]
        return Common(int(max(begin, from_)), int(min(end, until)), int(counts.sum()))

    def covers(self, other: Bytes) -> bool:
        """Whether all bytes of the other are among these."""
        if self.grain > other.grain or other.first < self.first or self.last < other.last:
            return False
        if self.parts is None:
            return True
        theirs = other._in_whole(1)
        counts = _below(self.parts, theirs[:, 1]) - _below(self.parts, theirs[:, 0])
        return bool((counts == theirs[:, 1] - theirs[:, 0]).all())

    def _in_whole(self, grain: int) -> Parts:
        """The parts of which each is a multiple of `grain`."""
        parts = np.array([[self.first, self.last]], np.int64) if self.parts is None else self.parts
        if grain == 1:
            return parts
        whole = np.stack([-(-parts[:, 0] // grain) * grain, parts[:, 1] // grain * grain], axis=1)
        return whole[whole[:, 0] < whole[:, 1]]


@dataclass(frozen=True)
class Common:
    """What two accesses have in common: from the first byte to before the last, so many of these."""

    first: int
    last: int
    nbytes: int


@dataclass(frozen=True, eq=False)
class Access(Generic[Thread, Deed]):
    """What a command does to a memory."""

    where: Bytes
    writes: bool
    thread: Thread
    number: int
    """In its thread's order."""
    deed: Deed
    atomic: bool = False
    """As two may do to the same bytes without an order: by atomics, or by volatile accesses and the like."""


class Accesses(Generic[Thread, Deed]):
    """Those to one memory that later ones may still meet: the last `most` of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[Access[Thread, Deed]] = []

    def add(
        self, new: Access[Thread, Deed], clock: Clock[Thread], settled: Clock[Thread] | None = None
    ) -> tuple[Access[Thread, Deed], Common] | None:
        """The first access that a new one meets without an order, and where; the new one is kept otherwise. `clock` is
        what happens before the new one, `settled` what is known to happen before all that follows it."""
        kept, done = [], settled or {}
        for old in self._kept:
            ordered = old.number <= clock.get(old.thread, 0)
            if not ordered and _exclude(old, new) and old.deed is not new.deed:
                common = old.where.common(new.where)
                if common is not None:
                    return old, common
            replaced = ordered and _replaces(new, old) and new.where.covers(old.where)
            if not replaced and old.number > done.get(old.thread, 0):
                kept.append(old)
        kept.append(new)
        self._kept = kept[-self._most :]
        return None


def _exclude(one: Access[Thread, Deed], other: Access[Thread, Deed]) -> bool:
    """Whether the two need an order, where they touch the same bytes."""
    return (one.writes or other.writes) and not (one.atomic and other.atomic)


def _replaces(new: Access[Thread, Deed], old: Access[Thread, Deed]) -> bool:
    """Whether whatever needs an order with the old access needs one with the new one as well."""
    return (new.writes or not old.writes) and (old.atomic or not new.atomic)


def _below(parts: Parts, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How many bytes of the parts lie before each place."""
    if not len(parts):
        return np.zeros(len(places), np.int64)
    sums = np.concatenate([[0], np.cumsum(parts[:, 1] - parts[:, 0])])
    whole = np.searchsorted(parts[:, 1], places, side="right")
    begun = parts[np.minimum(whole, len(parts) - 1), 0]
    below: np.ndarray[Any, Any] = np.where(
        whole < len(parts), sums[whole] + np.maximum(places - begun, 0), sums[-1]
    )
    return below
