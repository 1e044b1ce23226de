"""What marked elements of a line have in common: they stand side by side, once or in each stretch of so many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Span:
    """Places from `first` up to `end`, which is none of them, of each `period`; of the line, where that is as long."""

    first: int
    end: int
    period: int
    size: int  # of the line

    @property
    def once(self) -> bool:
        """Whether they stand side by side in the line."""
        return self.period == self.size

    @property
    def upper_half(self) -> bool:
        """Whether they are the upper half of each period."""
        return 2 * self.first == self.end == self.period

    def condition(self, index: str) -> str:
        """Its places of each period, as a condition on an index."""
        place = f"{index} % {self.period}"
        if self.end - self.first == 1:
            return f"{place} == {self.first}"
        if self.end == self.period:
            return f"{place} >= {self.first}"
        return f"{f'{self.first} <= ' if self.first else ''}{place} < {self.end}"

    def named(self, unit: str = "") -> str:
        """Its places in words."""
        one = self.end - self.first == 1
        return f"{unit} {self.first}" if one else f"{unit}s {self.first} to {self.end - 1}"


def common(marked: Mask) -> Span | None:
    """The span that has all marked places of a line and no other; None where there is none."""
    size = marked.size
    begins = np.flatnonzero(marked & ~np.append(False, marked[:-1]))
    if not len(begins) or marked.all():
        return None
    first = int(begins[0])
    stops = np.flatnonzero(~marked[first:])
    end = first + int(stops[0]) if len(stops) else size
    if len(begins) == 1:
        return Span(first, end, size, size)
    period = int(begins[1]) - first
    at = np.arange(size) % period
    fits = end <= period <= size // 2 and np.array_equal(marked, (first <= at) & (at < end))
    return Span(first, end, period, size) if fits else None
