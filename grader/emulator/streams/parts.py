"""What the buffers of a recording hold, in parts: stretches of bytes that are of one value.

A value is whatever the caller follows: an array, a fill, or only that these bytes are needed.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

V = TypeVar("V")


@dataclass(frozen=True)
class Part(Generic[V]):
    """The bytes [first, last) of a buffer: those of a value from its byte `offset` on."""

    first: int
    last: int
    value: V
    offset: int

    def cut(self, first: int, last: int) -> Part[V]:
        """What of it lies in [first, last)."""
        low, high = max(first, self.first), min(last, self.last)
        return Part(low, high, self.value, self.offset + low - self.first)

    def moved(self, by: int) -> Part[V]:
        """The same elsewhere."""
        return Part(self.first + by, self.last + by, self.value, self.offset)

    def aligned(self, size: int) -> bool:
        """Whether it is whole elements of so many bytes."""
        return all(place % size == 0 for place in (self.first, self.last, self.offset))

    def continues(self, before: Part[V]) -> bool:
        """Whether the part before it is of the same stretch."""
        reached = before.offset + before.last - before.first
        return before.last == self.first and before.value == self.value and reached == self.offset


class Memory(Generic[V]):
    """The parts of a buffer, in order; there may be gaps."""

    def __init__(self) -> None:
        self._parts: list[Part[V]] = []

    def read(self, first: int, last: int) -> list[Part[V]]:
        """What lies in [first, last)."""
        return [part.cut(first, last) for part in self._parts[slice(*self._touched(first, last))]]

    def write(self, first: int, last: int, parts: Iterable[Part[V]]) -> None:
        """Let [first, last) hold these and nothing else."""
        start, end = self._touched(first, last)
        start, end = max(0, start - 1), end + 1  # neighbours may become one with what is written
        touched = self._parts[start:end]
        before = [part.cut(part.first, first) for part in touched if part.first < first]
        after = [part.cut(last, part.last) for part in touched if part.last > last]
        self._parts[start:end] = _joined([*before, *parts, *after])

    def _touched(self, first: int, last: int) -> tuple[int, int]:
        start = bisect.bisect_right(self._parts, first, key=lambda part: part.last)
        return start, bisect.bisect_left(self._parts, last, lo=start, key=lambda part: part.first)


def _joined(parts: Iterable[Part[V]]) -> list[Part[V]]:
    found: list[Part[V]] = []
    for part in parts:
        if found and part.continues(found[-1]):
            part = Part(found[-1].first, part.last, part.value, found.pop().offset)
        found.append(part)
    return found
