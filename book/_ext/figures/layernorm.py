"""Layer norm: moments merged in a tree, and what the mean of the squares minus the square of the mean leaves over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from figures.chart import Axis, Chart
from figures.merging import steps, tree
from figures.precision import power

ELEMENTS = (2, 4, 4, 4, 5, 5, 7, 9)

# Rows whose variances are computed, their elements, and the threads that compute one.
ROWS, COLUMNS, BLOCK = 16, 8192, 256


@dataclass(frozen=True)
class Moments:
    """Of some elements: how many, their mean, and the sum of (element - mean)²."""

    count: int
    mean: Fraction
    squares: Fraction


def merged(a: Moments, b: Moments) -> Moments:
    """The moments of the elements of both, by Chan's formula."""
    count = a.count + b.count
    d = b.mean - a.mean
    mean = a.mean + d * b.count / count
    return Moments(count, mean, a.squares + b.squares + d * d * a.count * b.count / count)


def welford() -> str:
    """Eight elements, the moments of four threads, and the tree that merges them."""
    title = "Mean and variance in one pass: eight elements, four threads"
    below = "(count, mean, squares). A merge adds both squares and d² · n·m / (n + m); d: difference of the means."
    levels = steps([Moments(1, Fraction(element), Fraction(0)) for element in ELEMENTS], merged)
    row = levels[-1][0]
    variance = f"variance {float(row.squares):.10g} / {row.count} = {float(row.squares / row.count):.10g}"
    return tree(title, below, ELEMENTS, levels, _told, _sum, variance)


def _told(moments: Moments) -> str:
    return f"({moments.count}, {float(moments.mean):.10g}, {float(moments.squares):.10g})"


def _sum(a: Moments, b: Moments) -> str:
    """How the squares of two parts are merged."""
    d = abs(b.mean - a.mean)
    weight = f"{a.count}·{b.count}/{a.count + b.count}"
    return f"{float(a.squares):.10g} + {float(b.squares):.10g} + {float(d):.10g}² · {weight}"


def cancels() -> str:
    """The relative error of a variance in FP32, by the row's mean, computed in three ways."""
    title = "Relative error of the variance in FP32, by the mean of the row"
    below = f"Root mean square over {ROWS} rows of {COLUMNS:,} elements, {BLOCK} threads each; both axes logarithmic."
    chart = Chart(
        title,
        below,
        Axis("mean, in standard deviations", 0.8, 1.25e4, [(10.0**p, f"{10**p:,}") for p in range(5)], True),
        Axis("relative error", 1e-9, 1e3, [(10.0**p, power(10, p)) for p in range(-8, 3, 2)], True),
    )
    means = [float(mean) for mean in np.geomspace(1, 1e4, 17)]

    def errors(variance: Callable[[np.ndarray], float]) -> list[tuple[float, float]]:
        return [(mean, error(variance, rows(mean))) for mean in means]

    difference, updated, twice = errors(of_squares), errors(of_moments), errors(of_two_passes)
    chart.line([(mean, mean**2 * 2.0**-24) for mean in means], "dim", dashed=True)
    chart.line(difference, "red")
    chart.line(updated, "blue")
    chart.line(twice, "green")
    chart.label(means[12], means[12] ** 2 * 2.0**-24, "mean² · 2⁻²⁴", "dim", dx=4, dy=20)
    chart.label(*difference[12], "mean of x² minus mean²", "red", anchor="end", dx=-40, dy=-20)
    chart.label(*updated[8], "Welford", "blue", anchor="middle", dy=-14)
    chart.label(*twice[8], "two passes", "green", anchor="middle", dy=20)
    return chart.render()


def rows(mean: float) -> np.ndarray:
    """Rows with this mean and the standard deviation 1, but for rounding."""
    return (np.random.default_rng(12).standard_normal((ROWS, COLUMNS)) + mean).astype(np.float32)


def error(variance: Callable[[np.ndarray], float], of: np.ndarray) -> float:
    """The relative error of the variances of rows: the root of its mean square."""
    errors = [variance(row) / float(row.var(dtype=np.float64)) - 1.0 for row in of]
    return float(np.sqrt(np.mean(np.square(errors))))


def of_squares(x: np.ndarray) -> float:
    """The mean of the squares minus the square of the mean, in FP32."""
    mean = _total(x) / np.float32(x.size)
    return float(_total(x * x) / np.float32(x.size) - mean * mean)


def of_two_passes(x: np.ndarray) -> float:
    """The mean of the squared differences from the mean, in FP32."""
    d = x - _total(x) / np.float32(x.size)
    return float(_total(d * d) / np.float32(x.size))


def of_moments(x: np.ndarray) -> float:
    """As rung 02 computes it, in FP32: Welford's updates in each thread, then Chan's formula in a tree."""
    count = np.float32(0)
    mean, squares = np.zeros((2, BLOCK), np.float32)
    for elements in x.reshape(-1, BLOCK):
        count += np.float32(1)
        before = elements - mean
        mean = mean + before / count
        squares = squares + before * (elements - mean)
    while mean.size > 1:
        half = mean.size // 2
        d = mean[half:] - mean[:half]
        squares = squares[:half] + squares[half:] + d * d * count / np.float32(2)
        mean = mean[:half] + d / np.float32(2)
        count += count
    return float(squares[0] / count)


def _total(added: np.ndarray) -> np.float32:
    """As a block adds in FP32: each thread every 256th, then a tree."""
    own = np.add.accumulate(added.reshape(-1, BLOCK), axis=0, dtype=np.float32)[-1]
    while own.size > 1:
        own = own[: own.size // 2] + own[own.size // 2 :]
    return np.float32(own[0])
