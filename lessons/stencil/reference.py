"""A sum over 17 neighbours, for each element: inputs, the answer in float64, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from grader.workbook import special

Array = NDArray[np.float32]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]

RADIUS = 8
"""How far the stencil reaches to either side."""

STRETCH = 4 * RADIUS
"""Elements in a row that are of one kind: windows of the middle ones have no others."""

WHOLE = 4096
"""Whole numbers in a row: they fill tiles of up to 2048, with what these read beside them."""


def make_inputs(
    problem: Mapping[str, int], rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """in (N), float32.

    "exact": integers up to 2^18 in either direction without 0. Sums of 17 stay below 2^24 and are exact in any order;
    each that is dropped, doubled or taken from a wrong place shows.
    "real": normally distributed about 1, one in 16 a zero, one in 64 a hundred times larger; special.alike_in_pieces
    leaves some of them.
    """
    draw = _integers if kind == "exact" else _normal
    return {"in": draw(problem["N"], rng)}


def special_inputs(problem: Mapping[str, int], rng: np.random.Generator) -> dict[str, Array]:
    """As "real", one element in 100 NaN, an infinity or a subnormal: each shows in the sums that it belongs to, and in
    no other, and so do infinities at both ends. One stretch has sizes from 2^-100 to 2^100, one has subnormals alone,
    whose sums are exact, and a long one has whole numbers alone, few of them larger than a float counts."""
    inputs = make_inputs(problem, rng, "real")
    values = inputs["in"]
    kinds = np.array([np.nan, np.inf, -np.inf, np.finfo(np.float32).smallest_subnormal], np.float32)
    chosen = rng.random(problem["N"]) < 1 / 100
    values[chosen] = rng.choice(kinds, int(chosen.sum()))
    whole = rng.integers(1, 10, WHOLE) + (rng.integers(0, 64, WHOLE) == 0) * rng.integers(
        1 << 24, 1 << 40, WHOLE
    )
    _stretch(values, rng, WHOLE)[:] = whole[: len(values)]
    _stretch(values, rng)[:] *= np.exp2(rng.integers(-100, 101, STRETCH))[: len(values)]
    subnormals = rng.integers(1, 1000, STRETCH) * np.finfo(np.float32).smallest_subnormal
    _stretch(values, rng)[:] = subnormals[: len(values)]
    values[0], values[-1] = np.inf, -np.inf
    return inputs


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """out (N), float64."""
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is NaN, as it should be
        return {"out": _sums(inputs["in"].astype(np.float64))}


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """Σ|in| over each window (N), float64: rounding errors of a sum are proportional to it."""
    return {"out": _sums(np.abs(inputs["in"]).astype(np.float64))}


def shapes(problem: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    return {"in": (problem["N"],), "out": (problem["N"],)}


def elements(read: Read, problem: Mapping[str, int], name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of an output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    in_a_row = bool((np.diff(places) == 1).all())  # such windows overlap, and are read once
    at = (
        np.arange(places[0] - RADIUS, places[-1] + RADIUS + 1)
        if in_a_row
        else places + np.arange(-RADIUS, RADIUS + 1)[:, None]
    )
    values = np.where((at >= 0) & (at < problem["N"]), read("in", at.clip(0, problem["N"] - 1)), 0.0)
    over = _over_windows if in_a_row else _over_columns
    return over(values), over(np.abs(values))


def min_flop(problem: Mapping[str, int]) -> int:
    """An addition for each output but the first: no two of them are the same sum."""
    return problem["N"] - 1


def min_bytes(problem: Mapping[str, int]) -> int:
    """Every element read once and written once, 4 bytes each."""
    return 8 * problem["N"]


def _sums(values: Exact) -> Exact:
    """Of each element the sum over its window, zeros beyond the ends."""
    return _over_windows(np.pad(values, RADIUS))


def _over_windows(values: Exact) -> Exact:
    """The sum over each window of values in a row."""
    return _over_columns(sliding_window_view(values, 2 * RADIUS + 1).T)


def _over_columns(windows: Exact) -> Exact:
    """The sum over each window, a column each."""
    sums: Exact = windows.sum(axis=0)
    return sums


def _stretch(values: Array, rng: np.random.Generator, count: int = STRETCH) -> Array:
    """So many elements in a row, or all if there are fewer."""
    start = rng.integers(max(1, len(values) - count + 1))
    return values[start : start + count]


def _integers(count: int, rng: np.random.Generator) -> Array:
    sizes = rng.integers(1, 2**18, count, dtype=np.int32, endpoint=True)
    return np.where(rng.random(count) < 0.5, -sizes, sizes).astype(np.float32)


def _normal(count: int, rng: np.random.Generator) -> Array:
    values = rng.standard_normal(count, dtype=np.float32)
    values += 1
    fate = rng.integers(0, 64, count, dtype=np.int8)
    values[fate < 4] = 0.0
    values[fate == 63] *= 100.0
    special.alike_in_pieces(values, rng)
    return values
