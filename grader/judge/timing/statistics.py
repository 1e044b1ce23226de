"""Medians of measured times, and how far to trust them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Median:
    """A median and its confidence interval, in the unit of the samples."""

    value: float
    low: float
    high: float


def median(samples: Sequence[float], confidence: float = 0.95) -> Median:
    """The median with an interval from order statistics, which assumes nothing about the samples'
    distribution.

    The interval runs from the k-th smallest to the k-th largest sample, with the largest k for which a
    median would lie outside with a probability of at most 1 - confidence; fewer than six samples are too few
    for 95 %, and the interval is then their whole range. Raises ValueError without samples.
    """
    if not samples:
        raise ValueError("no samples")
    ordered = sorted(samples)
    rank = _rank(len(ordered), 1 - confidence)
    return Median(statistics.median(ordered), ordered[rank], ordered[-1 - rank])


def _rank(count: int, alpha: float) -> int:
    """The largest k such that at most alpha/2 of all samples would put k or fewer below the true median."""
    below = 0.0
    for k in range(count // 2 + 1):
        below += math.comb(count, k) * 0.5**count
        if below > alpha / 2:
            return max(0, k - 1)
    return max(0, (count - 1) // 2)
