"""Softmax: pairs of a maximum and a sum merged in a tree, and what a long sum rounds away."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from figures.chart import Axis, Chart
from figures.merging import steps, tree
from figures.precision import power

ELEMENTS = (3, 1, 4, 1, 5, 9, 2, 6)

UNIT = 2.0**-24  # of rounding in FP32
# exp(x - maximum) of all elements but the largest. Added to a sum between 1 and 2, it loses the 2^-24 each time.
TERM = np.float32(2.0**-20 + 2.0**-24)
TREE_THREADS = 256


@dataclass(frozen=True)
class Pair:
    """Of some elements the largest, and the sum of 2^(element - largest)."""

    maximum: int
    sum: Fraction

    def scaled(self, maximum: int) -> Fraction:
        """The sum as it is with a larger maximum."""
        return self.sum / 2 ** (maximum - self.maximum)


def merged(a: Pair, b: Pair) -> Pair:
    """The pair of the elements of both."""
    maximum = max(a.maximum, b.maximum)
    return Pair(maximum, a.scaled(maximum) + b.scaled(maximum))


def online() -> str:
    """Eight elements, the pairs of four threads, and the tree that merges them."""
    title = "Eight elements, four threads, one pass; with powers of 2 in place of e"
    below = "A pair is the largest element and the sum of 2^(x − largest). A merge divides one of two sums."
    levels = steps([Pair(element, Fraction(1)) for element in ELEMENTS], merged)
    return tree(title, below, ELEMENTS, levels, _told, _scaled)


def _told(pair: Pair) -> str:
    return f"({pair.maximum}, {float(pair.sum):.10g})"


def _scaled(a: Pair, b: Pair) -> str:
    """How the sums of two pairs are merged."""
    loser, winner = sorted((a, b), key=lambda pair: pair.maximum)
    factor = 2 ** (winner.maximum - loser.maximum)
    return f"{float(winner.sum):.10g} + {float(loser.sum):.10g} / {factor}"


def rounding() -> str:
    """The relative error of a row's sum whose other terms are small, added one by one and by 256 threads."""
    counts = [2**exponent for exponent in range(8, 21)]
    title = "Relative error of a row's sum: the maximum comes first, all other terms are equal"
    below = "Terms of 2⁻²⁰ + 2⁻²⁴ beside a 1, added in FP32 with NumPy; both axes are logarithmic."
    chart = Chart(
        title,
        below,
        Axis(
            "elements of the row", 200, counts[-1] * 3, [(2**p, power(2, p)) for p in range(8, 21, 2)], True
        ),
        Axis("relative error", 1e-9, 3e-1, [(10.0**p, power(10, p)) for p in range(-8, 0)], True),
    )
    alone = [(float(count), error(_alone(terms(count)), terms(count))) for count in counts]
    shared = [(float(count), error(_by_threads(terms(count)), terms(count))) for count in counts]
    chart.line([(float(count), count * UNIT) for count in counts], "dim", dashed=True)
    chart.line([(float(count), count**0.5 * UNIT) for count in counts], "orange", dashed=True)
    chart.line(alone, "red")
    chart.line(shared, "green")
    chart.label(counts[-2], counts[-2] * UNIT, "N · 2⁻²⁴", "dim", anchor="end", dx=-6, dy=-8)
    chart.label(counts[2], counts[2] ** 0.5 * UNIT, "√N · 2⁻²⁴", "orange", anchor="middle", dy=-10)
    chart.label(*alone[3], "one thread adds all of them", "red", anchor="end", dx=60, dy=-24)
    chart.label(*shared[6], f"{TREE_THREADS} threads, and a tree", "green", dx=6, dy=22)
    return chart.render()


def terms(count: int) -> np.ndarray:
    """exp(x - maximum) of a row: 1, and then small ones."""
    found = np.full(count, TERM, np.float32)
    found[0] = 1.0
    return found


def error(found: float, added: np.ndarray) -> float:
    """The relative error of a sum; not less than there is room for on a logarithmic axis."""
    exact = float(added.sum(dtype=np.float64))
    return max(abs(found - exact) / exact, 1.5e-9)


def _alone(added: np.ndarray) -> float:
    return float(np.add.accumulate(added, dtype=np.float32)[-1])


def _by_threads(added: np.ndarray) -> float:
    """As a block of 256 threads adds: each every 256th, then a tree."""
    own = np.add.accumulate(added.reshape(-1, TREE_THREADS), axis=0, dtype=np.float32)[-1]
    while len(own) > 1:
        own = own[: len(own) // 2] + own[len(own) // 2 :]
    return float(own[0])
