"""How far modelled times are from measured ones.

No parameter of the time model belongs to a kernel or a topic, so that every record is one that was not fitted.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.results import Climb


@dataclass(frozen=True)
class Pair:
    """One rung, measured and modelled; seconds."""

    rung: str
    measured_s: float
    modelled_s: float

    @property
    def ratio(self) -> float:
        """Modelled over measured: above 1, the model is too slow."""
        return self.modelled_s / self.measured_s

    @property
    def factor(self) -> float:
        """How far off, whichever way: 1 is exact."""
        return max(self.ratio, 1 / self.ratio)


def pairs(record: Climb, modelled: Mapping[str, float | None]) -> list[Pair]:
    """The rungs of a record that were measured and have a modelled time, in the ladder's order."""
    found = []
    for rung in record.rungs:
        seconds = modelled.get(rung.id)
        if rung.time_s and rung.time_source == "measured" and seconds:
            found.append(Pair(rung.id, rung.time_s, seconds))
    return found


def order(items: Sequence[Pair]) -> float:
    """Kendall's τ between the measured and the modelled order: 1 is the same order, -1 the reverse."""
    return kendall([item.measured_s for item in items], [item.modelled_s for item in items])


def kendall(first: Sequence[float], second: Sequence[float]) -> float:
    """τ-b: agreeing pairs minus disagreeing ones, over all pairs but ties; 1 where all are ties."""
    both = list(itertools.combinations(zip(first, second, strict=True), 2))
    signs = [((a[0] > b[0]) - (a[0] < b[0]), (a[1] > b[1]) - (a[1] < b[1])) for a, b in both]
    score = sum(x * y for x, y in signs)
    size = float(sum(abs(x) for x, _ in signs) * sum(abs(y) for _, y in signs)) ** 0.5
    return score / size if size else 1.0


@dataclass(frozen=True)
class Error:
    """How far off the model is over many rungs, as factors: 1 is exact."""

    rungs: int
    median: float
    worst: float


def error(items: Sequence[Pair]) -> Error | None:
    """The error over some rungs; None for no rungs."""
    if not items:
        return None
    factors = [item.factor for item in items]
    return Error(len(factors), statistics.median(factors), max(factors))
