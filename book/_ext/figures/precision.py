"""Precision: the bits of each format, the gaps between its numbers, and what sums make of rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from figures.chart import Axis, Chart
from grader.report.pictures.svg import Sheet, heading

WIDTH = 760.0
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power(base: int, exponent: int) -> str:
    """A power as it is written by hand."""
    return f"{base}{str(exponent).translate(RAISED)}"


Sum = Callable[[np.ndarray], np.floating]


@dataclass(frozen=True)
class Format:
    """A binary floating-point format."""

    name: str
    exponent: int  # bits
    fraction: int  # bits

    @property
    def smallest(self) -> int:
        """The exponent of the smallest normal number, a power of two."""
        return 2 - 2 ** (self.exponent - 1)

    @property
    def largest(self) -> int:
        """The exponent of the largest power of two."""
        return 2 ** (self.exponent - 1) - 1


FP32, TF32 = Format("FP32", 8, 23), Format("TF32", 8, 10)
BF16, FP16 = Format("BF16", 8, 7), Format("FP16", 5, 10)
FORMATS = (FP32, TF32, BF16, FP16, Format("FP8, E5M2", 5, 2), Format("FP8, E4M3", 4, 3))


def formats() -> str:
    """The bits of each format: sign, exponent and fraction."""
    title = "The bits of floating-point formats"
    below = "Exponent bits decide the range, fraction bits the precision."
    sheet = Sheet(WIDTH, 78 + 34 * len(FORMATS) + 30, title, below)
    heading(sheet, title, below)
    cell, left = 19.0, 110.0
    for row, kind in enumerate(FORMATS):
        y = 66 + 34 * row
        sheet.text(16, y + 17, kind.name, size=13, bold=True)
        bits = ["red"] + ["orange"] * kind.exponent + ["blue"] * kind.fraction
        for place, colour in enumerate(bits):
            sheet.rect(left + cell * place, y, cell - 2, 24, colour, radius=2)
    y = 66 + 34 * len(FORMATS) + 8
    for x, colour, name in (
        (left, "red", "sign"),
        (left + 90, "orange", "exponent"),
        (left + 200, "blue", "fraction"),
    ):
        sheet.rect(x, y, 12, 12, colour)
        sheet.text(x + 18, y + 11, name, "dim", size=12)
    return sheet.render()


def spacing() -> str:
    """The gap from a number to the next one, over the number, in each format."""
    title = "The gap between neighbouring numbers"
    below = "FP16 ends at both dots, its smallest normal number and its largest; the others go on beyond the picture."
    low, high = -42, 42
    chart = Chart(
        title,
        below,
        Axis("number, powers of two", low, high, [(p, power(2, p)) for p in range(-40, 41, 10)]),
        Axis("gap, powers of two", -66, 38, [(p, power(2, p)) for p in range(-60, 31, 15)]),
    )
    for kind, colour in ((FP32, "blue"), (BF16, "orange"), (FP16, "green")):
        start, end = max(low, kind.smallest), min(high, kind.largest)
        chart.line([(start, start - kind.fraction), (end, end - kind.fraction)], colour)
        if end < high:
            for edge in (start, end):
                chart.point(edge, edge - kind.fraction, colour)
        at = {FP32.name: 20, BF16.name: -20, FP16.name: 15}[kind.name]
        chart.label(at, at - kind.fraction, kind.name, colour, dx=8, dy=16)
    return chart.render()


def sums() -> str:
    """The relative error of a sum of random numbers, by how many and in which order they are added."""
    counts = [2**exponent for exponent in range(4, 23, 2)]
    numbers = np.random.default_rng(1).random(counts[-1], dtype=np.float32)
    title = "Relative error of a sum of random numbers between 0 and 1"
    below = "Computed with NumPy when this page was built. The lower, the better; both axes are logarithmic."
    chart = Chart(
        title,
        below,
        Axis("numbers", 10, counts[-1] * 20, [(2**p, power(2, p)) for p in range(4, 23, 3)], log=True),
        Axis("relative error", 1e-9, 3, [(10.0**p, power(10, p)) for p in range(-8, 1, 2)], log=True),
    )
    ways: dict[str, tuple[Sum, np.ndarray, str]] = {
        "FP16, one after the other": (_one_by_one, numbers.astype(np.float16), "red"),
        "FP32, one after the other": (_one_by_one, numbers, "orange"),
        "FP32, a tree": (_tree, numbers, "green"),
    }
    for name, (add, given, colour) in ways.items():
        points = [(float(count), _error(add, given[:count])) for count in counts]
        chart.line(points, colour)
        for x, y in points:
            chart.point(x, y, colour)
        chart.label(*points[-1], name, colour, dy=22 if add is _tree else -12, anchor="end")
    return chart.render()


def _error(add: Sum, numbers: np.ndarray) -> float:
    exact = float(np.sum(numbers, dtype=np.float64))
    return max(
        abs(float(add(numbers)) - exact) / exact, 1.5e-9
    )  # an exact sum has no place on a logarithmic axis


def _one_by_one(numbers: np.ndarray) -> np.floating:
    """One accumulator that takes a number after the other, rounding each time."""
    return np.add.accumulate(numbers, dtype=numbers.dtype)[-1]


def _tree(numbers: np.ndarray) -> np.floating:
    """Neighbours are added, then neighbouring sums; the count is a power of two."""
    while len(numbers) > 1:
        numbers = numbers[0::2] + numbers[1::2]
    return numbers[0]
