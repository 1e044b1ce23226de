"""Comparing an output with its reference.

Exact cases compare for equality. Real cases allow an absolute error an element, λ·√n·u·Σ|a·b|, where n is the
number of terms of the sum, u the unit roundoff of the type and Σ|a·b| the sum of the terms' magnitudes: what
rounding errors of n random signs add up to, times a margin λ. NaN and infinities have to be where the
reference has them. Algorithms that compute with transforms of their inputs err by another measure, and a topic
can say by which.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from grader.judge.correctness import pieces
from grader.judge.correctness.guards import added_to, unset, unwritten
from grader.results import Corner, Mismatch, Number
from grader.workbook.elements import finfo, is_float

Array = np.ndarray[Any, np.dtype[Any]]

SMALL = 1 << 22
"""Elements of which some hundred megabytes more of memory may be taken to say what is wrong with them."""

UNIT_ROUNDOFF = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "tf32": 2.0**-11,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
}
"""Half the distance from 1 to the next number: the largest relative error of one rounding."""

CORNER = 4
"""Rows and columns that are shown around a wrong element."""

UNWRITTEN = "unwritten"
"""Stands where a kernel has not written an element."""

NEAR = 2.0**-4
"""What sums of some thousand products lose in half precision is a smaller share of the largest one."""

MANY = 64
"""Sums of which the largest is no chance: of few all may be small, where their terms are large."""

FEWEST_OTHERS = 3
"""Expected numbers that half precision does not have, before an output without any says something."""


@dataclass(frozen=True)
class Comparison:
    """How an output differs from its reference."""

    mismatch: Mismatch | None  # the wrong element that is shown, see `_shown`; None: the output is right
    error: float | None  # largest error over what is allowed; None where that is infinite or not a number
    unwritten: int  # how many elements still hold the poison
    first_unwritten: tuple[int, ...] | None
    box: tuple[tuple[int, int], ...] | None  # first and last wrong index, a pair a dimension
    in_half: bool = False  # the output was rounded to half precision on the way, see `_rounded_to_half`
    added_to: int = 0  # how many elements are a sum with what lay there at the start
    unset: int = 0  # how many elements hold what scratch arrays hold at the start
    flushed: bool = False  # nothing is wrong but subnormals, which are zero, or others
    flushes: bool = False  # all subnormals are zero
    below_half: bool = False  # no error is as large as half of the smallest term of an exact sum, which is 1
    beyond_all: bool = False  # some element is off by more than the largest right one
    advice: str = ""  # what to look at, where the case knows
    mistake: str | None = None  # what is behind it, where the topic knows
    fits: tuple[str, ...] = ()  # mistakes that explain every wrong element, in sentences
    missing: Array | None = field(default=None, compare=False, repr=False)
    """Which elements are as they were at the start, unwritten or 0."""
    bound: str | None = None  # the algorithm whose error bound held, where the topic's own did not

    @property
    def right(self) -> bool:
        """Whether every element passed."""
        return self.mismatch is None

    @property
    def explained(self) -> bool:
        """Whether it is known what is behind wrong elements, and no guess."""
        known = self.added_to or self.unset or self.in_half or self.flushes
        return bool(known) or self.mistake is not None

    @property
    def never_written(self) -> str:
        """The output, where nobody has written any of it; else ""."""
        wrong = self.mismatch
        return wrong.array if wrong is not None and self.unwritten == wrong.elements else ""

    def excused(self) -> Comparison:
        """The same output, where what is wrong with it is none of the kernel's doing."""
        return replace(self, mismatch=None, error=None, box=None, flushed=False, flushes=False)


def error_bound(lambda_: float, terms: float, unit: str, magnitude: Array) -> Array:
    """λ·√n·u·Σ|a·b| an element; `magnitude` is Σ|a·b|, float64, in the output's shape."""
    bound: Array = lambda_ * math.sqrt(terms) * UNIT_ROUNDOFF[unit] * magnitude
    return bound


def compare_bits(name: str, actual: Array, expected: Array) -> Comparison:
    """Compare an output with what it should be, bit for bit: −0 is not 0, and one NaN not another."""
    bits = f"u{actual.itemsize}"
    wrong = (actual.view(bits) != expected.view(bits)).reshape(-1)
    if not wrong.any():
        return Comparison(None, 0.0, 0, None, None)
    found = _wrong(name, actual, expected, None, wrong, None)
    assert found.mismatch is not None, "some element is wrong"
    first = _shown(actual, expected, wrong)
    shown = [_with_bits(array.reshape(-1)[first]) for array in (expected, actual)]
    return replace(found, mismatch=replace(found.mismatch, expected=shown[0], actual=shown[1]))


def _with_bits(value: Any) -> Number:
    """A number as results show it; a NaN with its bits, which tell it from another."""
    bits = int(value.view(f"u{value.itemsize}"))
    return f"nan (0x{bits:0{2 * value.itemsize}x})" if np.isnan(value) else number(value)


def compare(
    name: str, actual: Array, expected: Array, allowed: Array | None, spreads: bool = False
) -> Comparison:
    """Compare an output with its reference of the same shape; `allowed` is an absolute error, None: equality.

    Equality means equality after the reference is rounded to the output's type. With `spreads`, what is not finite may
    stand where no error is bounded as well, and NaN in place of an infinity: an algorithm has spread it.
    """
    if allowed is None:
        expected = expected.astype(actual.dtype, copy=False)
    wrong = np.zeros(actual.size, dtype=bool)
    flat, flat_expected = actual.reshape(-1), expected.reshape(-1)
    limits = None if allowed is None else np.broadcast_to(allowed, actual.shape).reshape(-1)

    def worst_of(parts: Iterator[slice]) -> float:
        errors, found = np.empty(min(actual.size, pieces.PIECE)), 0.0
        for part in parts:
            limit = None if limits is None else limits[part]
            worst = _worst_of_right(flat[part], flat_expected[part], limit, errors)
            if worst is None:
                worst, wrong[part] = _errors(flat[part], flat_expected[part], limit, spreads)
            found = max(found, worst)
        return found

    ratio = max(pieces.done(worst_of, actual.size, pieces.PIECE), default=0.0)
    if not wrong.any():
        return Comparison(None, ratio, 0, None, None)
    finite = allowed is not None and math.isfinite(ratio)
    return _wrong(name, actual, expected, allowed, wrong, ratio if finite else None)


def _wrong(
    name: str, actual: Array, expected: Array, allowed: Array | None, wrong: Array, error: float | None
) -> Comparison:
    """What there is to say of an output with wrong elements."""
    holes = np.flatnonzero(unwritten(actual) & wrong)
    flushed = _flushed(actual.reshape(-1)[wrong], expected.reshape(-1)[wrong])
    return Comparison(
        mismatch=_mismatch(name, actual, expected, allowed, wrong),
        error=error,
        unwritten=len(holes),
        missing=_missing(actual, expected, wrong, holes),
        first_unwritten=_index(holes[0], actual.shape) if len(holes) else None,
        box=_box(wrong, actual.shape),
        in_half=_rounded_to_half(actual.reshape(-1), expected.reshape(-1)),
        added_to=int(np.count_nonzero(added_to(actual, expected) & wrong)),
        unset=int(np.count_nonzero(unset(actual) & wrong)),
        flushed=flushed,
        flushes=flushed and not _keeps_subnormals(actual, expected),
        below_half=_below_half(actual.reshape(-1)[wrong], expected.reshape(-1)[wrong]),
        beyond_all=_beyond_all(actual, expected),
    )


def _missing(actual: Array, expected: Array, wrong: Array, holes: Array) -> Array | None:
    """Which elements nobody wrote, or of an output that was cleared, and is right but for them, nobody added to."""
    if actual.size > SMALL or len(holes) == actual.size:
        return None
    mask = wrong
    if len(holes):
        mask = np.zeros(actual.size, np.bool_)
        mask[holes] = True
    else:
        with np.errstate(invalid="ignore"):  # a NaN that signals is no zero
            if wrong.all() or not expected.all() or actual.reshape(-1)[wrong].any():
                return None
    return mask.reshape(actual.shape)


def _below_half(actual: Array, expected: Array) -> bool:
    """Whether whole numbers are expected, and no element is off by as much as 1/2."""
    with np.errstate(invalid="ignore", over="ignore"):
        if not np.array_equal(expected, np.rint(expected)):
            return False
        return bool(np.all(np.abs(actual.astype(np.float64) - expected.astype(np.float64)) < 0.5))


def _beyond_all(actual: Array, expected: Array) -> bool:
    """Whether an element is off by more than the largest right one, and all are finite. Of sums in half none is: they
    lose small shares of the largest one, stand still before they reach it, or end in infinity."""
    many = MANY <= actual.size <= SMALL
    if not many or not is_float(actual.dtype) or not np.isfinite(actual).all():
        return False
    with np.errstate(invalid="ignore"):
        off = np.abs(actual.astype(np.float64) - expected)
    return bool(off.max(initial=0.0) > np.abs(expected).max(initial=0.0))


def _flushed(actual: Array, expected: Array) -> bool:
    """Whether elements are zero, or other subnormals, where they should be subnormals: of what a sum is made of, some
    may be flushed."""
    if not is_float(actual.dtype):
        return False
    small = (actual == 0) | _subnormal(actual, actual.dtype)
    return bool(np.all(small & _subnormal(expected, actual.dtype)))


def _subnormal(values: Array, dtype: np.dtype[Any]) -> Array:
    """Which values are subnormals of a type."""
    subnormal: Array = (values != 0) & (np.abs(values) < float(finfo(dtype).tiny))
    return subnormal


def _keeps_subnormals(actual: Array, expected: Array) -> bool:
    """Whether some subnormals come out: what loses only others does not flush."""
    return bool((_subnormal(expected, actual.dtype) & (actual != 0)).any())


def _rounded_to_half(actual: Array, expected: Array) -> bool:
    """Whether a wrong output holds nothing but numbers of half precision, about where the right ones are.

    Infinities are where half precision ends, too. Sums of small integers are such numbers by themselves, so
    several of the expected ones must not be; one is enough where the output is the expected one, rounded.
    """
    if not is_float(actual.dtype) or actual.itemsize <= 2:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = expected.astype(np.float16)
        finite = np.isfinite(actual)
        halves = actual.astype(np.float16).astype(actual.dtype) == actual
        near = np.abs(actual[finite] - expected[finite]) <= NEAR * np.abs(expected).max(initial=0.0)
    others = int(np.count_nonzero(rounded != expected))
    fewest = 1 if np.array_equal(actual, rounded) else FEWEST_OTHERS
    return bool(halves.all() and near.all() and others >= fewest)


Bounds = Mapping[str, Mapping[str, Array]]
"""Absolute errors that algorithms may make: by the algorithm's name, then by output."""


def compare_within(
    name: str, actual: Array, expected: Array, allowed: Array | None, wider: Callable[[], Bounds]
) -> Comparison:
    """Compare as `compare` does, and where `allowed` does not hold for every element, within each of the wider
    bounds: an output is right if one bound holds for all of it. `wider` is not called before that is needed."""
    comparison = compare(name, actual, expected, allowed)
    if comparison.right or allowed is None:
        return comparison
    for algorithm, limits in wider().items():
        comparison = compare(name, actual, expected, limits[name], spreads=True)
        if comparison.right:
            return replace(comparison, bound=algorithm)
    return comparison


def largest_error(actual: Array, expected: Array, allowed: Array | None) -> float | None:
    """Of a part of an output that is right, over what is allowed, None: equality; None of one that is wrong, or has to
    be looked at element by element."""
    errors = np.empty(actual.size)
    limit = None if allowed is None else np.broadcast_to(allowed, actual.shape).reshape(-1)
    return _worst_of_right(actual.reshape(-1), expected.reshape(-1), limit, errors)


def _worst_of_right(actual: Array, expected: Array, limit: Array | None, errors: Array) -> float | None:
    """The largest error over its limit of a piece that is right and finite, found in few passes over `errors`, which is
    overwritten; None where it has to be looked at element by element."""
    if limit is None:
        return 0.0 if np.array_equal(actual, expected) else None
    if not is_float(actual.dtype):
        return None
    error = errors[: len(actual)]
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        np.subtract(actual, expected, out=error, dtype=np.float64)
        np.abs(error, out=error)
        if not (error <= limit).all() or not math.isfinite(error.max()):
            return None
        np.divide(error, limit, out=error)
    np.copyto(error, 0.0, where=np.isnan(error))  # 0/0 is no error
    return float(error.max())


def within(actual: Array, expected: Array, limit: Array) -> Array:
    """Whether each element is off by no more than its limit."""
    with np.errstate(invalid="ignore"):
        near: Array = (np.abs(actual - expected) <= limit) | _overflown(actual, expected, limit)
    return near


def _overflown(actual: Array, expected: Array, limit: Array) -> Array:
    """Whether an element is infinite because the right one, within its limit, is too large for its type."""
    if not is_float(actual.dtype):
        return np.zeros(actual.shape, np.bool_)
    most = np.copysign(float(finfo(actual.dtype).max), actual.astype(np.float64))
    right: Array = np.isinf(actual) & np.isfinite(expected) & (np.sign(most) * (most - expected) <= limit)
    return right


def _errors(actual: Array, expected: Array, limit: Array | None, spreads: bool) -> tuple[float, Array]:
    """The largest error over its limit, infinite where something is not finite, and which elements are wrong; without
    a limit those that differ."""
    with np.errstate(
        invalid="ignore", divide="ignore", over="ignore"
    ):  # what outputs hold at the start is a NaN
        equal = actual == expected
        if equal.all():
            return 0.0, ~equal
        if is_float(actual.dtype):
            equal |= np.isnan(actual) & np.isnan(expected)
        if limit is None:
            return 0.0, ~equal
        if spreads:
            equal |= ~np.isfinite(limit) & (np.isfinite(expected) | ~np.isfinite(actual))
        equal |= _overflown(actual, expected, limit)
        error = np.abs(actual.astype(np.float64) - expected)
        wrong = ~((error <= limit) & np.isfinite(error) | equal)  # an infinite error is none of rounding
        # A wrong infinity or NaN gives no finite ratio; an equal one is no error at all.
        ratios = np.where(equal, 0.0, error / limit)
        worst = float(ratios.max(initial=0.0))
    return math.inf if math.isnan(worst) else worst, wrong


def _mismatch(name: str, actual: Array, expected: Array, allowed: Array | None, wrong: Array) -> Mismatch:
    first = _shown(actual, expected, wrong)
    return Mismatch(
        array=name,
        index=list(_index(first, actual.shape)),
        expected=number(held(expected.reshape(-1)[first], actual.dtype)),
        actual=number(actual.reshape(-1)[first]),
        allowed=_allowed(allowed, actual.shape, first),
        wrong=int(np.count_nonzero(wrong)),
        elements=actual.size,
        corner=_corner(actual, expected, _index(first, actual.shape)),
    )


def held(expected: Any, dtype: np.dtype[Any]) -> Any:
    """An expected number, or the infinity that it is rounded to where it is larger than its type holds."""
    if not is_float(dtype):
        return expected
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.asarray(expected).astype(dtype)
    return rounded if np.isinf(rounded) else expected


def _shown(actual: Array, expected: Array, wrong: Array) -> int:
    """The first wrong element; where NaN and infinities are due somewhere, of those that say more: numbers that are to
    be others, or else what is to be a number."""
    due = np.isfinite(expected).reshape(-1)
    if due.all():
        return int(np.argmax(wrong))
    due &= wrong
    numbers = due & np.isfinite(actual).reshape(-1)
    return int(np.argmax(next((places for places in (numbers, due) if places.any()), wrong)))


def _corner(actual: Array, expected: Array, index: tuple[int, ...]) -> Corner | None:
    """At most CORNER × CORNER elements, the wrong one among them, and as many of an array of one dimension."""
    if actual.size == 1:
        return None
    sides = [max(0, min(at, extent - CORNER)) for at, extent in zip(index, actual.shape, strict=True)][-2:]
    start = (*index[:-2], *sides)
    part: tuple[Any, ...] = (*index[:-2], *(slice(at, at + CORNER) for at in sides))
    return Corner(list(start), rows(expected.reshape(actual.shape)[part]), rows_left(actual[part]))


def rows(part: Array) -> list[list[Number]]:
    """The numbers of an array of at most two dimensions, row by row, as results show them."""
    return [[number(value) for value in row] for row in np.atleast_2d(part)]


def rows_left(part: Array) -> list[list[Number]]:
    """The same of what a kernel has left, with a word for what nobody has written."""
    found = rows(part)
    for place in np.flatnonzero(unwritten(part)):
        row, column = divmod(int(place), len(found[0]))
        found[row][column] = UNWRITTEN
    return found


def _allowed(allowed: Array | None, shape: tuple[int, ...], flat: int) -> float:
    """What an element may err; 0 where NaN or an infinity is expected, which is asked for as it is."""
    limit = 0.0 if allowed is None else float(np.broadcast_to(allowed, shape).reshape(-1)[flat])
    return limit if math.isfinite(limit) else 0.0


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape))


def _box(wrong: Array, shape: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """The smallest box of indices that holds every wrong element."""
    grid = wrong.reshape(shape)
    box = []
    for axis in range(grid.ndim):
        others = tuple(i for i in range(grid.ndim) if i != axis)
        hit = np.flatnonzero(grid.any(axis=others))
        box.append((int(hit[0]), int(hit[-1])))
    return tuple(box)


def number(value: Any) -> Number:
    """A NumPy number as JSON can carry it: "nan", "inf" and "-inf" by name."""
    plain = float(value)
    return plain if math.isfinite(plain) else str(plain)
