"""The median's interval."""

from __future__ import annotations

import random

import pytest

from grader.judge.timing.statistics import Median, median


def test_thirty_samples_give_the_tenth_from_either_end() -> None:
    # The table of order-statistic intervals for the median: n = 30, 95 %: ranks 10 and 21.
    assert median([float(i) for i in range(1, 31)]) == Median(15.5, 10.0, 21.0)


def test_few_samples_give_their_range() -> None:
    assert median([3.0, 1.0, 2.0]) == Median(2.0, 1.0, 3.0)
    assert median([5.0]) == Median(5.0, 5.0, 5.0)


def test_no_samples_is_an_error() -> None:
    with pytest.raises(ValueError, match="no samples"):
        median([])


@pytest.mark.parametrize("count", [6, 9, 30, 51])
def test_the_interval_covers_the_true_median(count: int) -> None:
    rng = random.Random(count)
    trials = 2000
    covered = 0
    for _ in range(trials):
        interval = median([rng.expovariate(1.0) for _ in range(count)])
        covered += interval.low <= 0.6931 <= interval.high
    assert covered / trials > 0.94
