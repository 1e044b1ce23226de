"""The sum of N numbers: inputs, the answer in float64, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from grader.workbook import special

Array = NDArray[np.float32]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]


def make_inputs(
    problem: Mapping[str, int], rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """in (N), float32.

    "exact": special.whole_numbers, so that each number that is dropped or added twice shows in the sum, which is exact
    in any order.
    "real": normally distributed about 1; the sum grows with N, and some numbers are negative.
    special.alike_in_pieces leaves some of them.
    """
    n = problem["N"]
    if kind == "exact":
        return {"in": special.whole_numbers(n, rng)}
    values = rng.standard_normal(n, dtype=np.float32) + np.float32(1)
    special.alike_in_pieces(values, rng)
    return {"in": values}


def special_inputs(problem: Mapping[str, int], rng: np.random.Generator) -> dict[str, Array]:
    """As "real", changed by `special.of_a_sum`: by N, to sizes far apart, to what is not finite, or to subnormals."""
    inputs = make_inputs(problem, rng, "real")
    special.of_a_sum(inputs["in"], rng)
    return inputs


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """out (1), float64."""
    return {"out": np.array([inputs["in"].sum(dtype=np.float64)])}


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """Σ|in| (1), float64: rounding errors of the sum are proportional to it."""
    return {"out": np.array([np.abs(inputs["in"]).sum(dtype=np.float64)])}


def yardstick(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Array]:
    """out (1), float32, by NumPy's pairwise summation."""
    return {"out": inputs["in"].sum(keepdims=True)}


def transformed_bounds(
    inputs: Mapping[str, Array], problem: Mapping[str, int]
) -> Iterator[tuple[str, float, dict[str, Exact]]]:
    """The error bound of sums that add all numbers to one accumulator, as an atomic for each number does.

    The rounding errors of N additions in a row are some √N / 3 roundings of the sum; this is six times as many.
    """
    sums = magnitude(inputs, problem)
    if np.isfinite(sums["out"]).all():
        yield "one addition after the other", 4.0 * problem["N"], sums


def shapes(problem: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    return {"in": (problem["N"],), "out": (1,)}


def elements(read: Read, problem: Mapping[str, int], name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of an output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    terms = read("in", np.arange(problem["N"]))
    return np.array([terms.sum()])[places], np.array([np.abs(terms).sum()])[places]


def min_flop(problem: Mapping[str, int]) -> int:
    """N - 1 additions."""
    return problem["N"] - 1


def min_bytes(problem: Mapping[str, int]) -> int:
    """Every number read once, the sum written, 4 bytes each."""
    return 4 * problem["N"] + 4


def written_bytes(problem: Mapping[str, int]) -> int:
    """The sum."""
    return 4
