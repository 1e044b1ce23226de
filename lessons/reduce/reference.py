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

    "exact": special.whole_numbers. Sums of any of them are exact in any order up to N = 2,097,151, and as none is zero,
    each dropped or doubled one shows in the sum.
    "real": normally distributed about 1, so that the sum grows with N while some numbers are negative; one in
    16 a zero, one in 64 a hundred times larger; special.alike_in_pieces leaves some of them.
    """
    draw = special.whole_numbers if kind == "exact" else _normal
    return {"in": draw(problem["N"], rng)}


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
    """out (1), float32, by pairwise summation: neighbours are added, then neighbouring sums, log2(N) times."""
    sums = inputs["in"]
    while len(sums) > 1:
        if len(sums) % 2:
            sums = np.append(sums, np.float32(0))
        sums = sums[0::2] + sums[1::2]
    return {"out": sums.copy()}


def transformed_bounds(
    inputs: Mapping[str, Array], problem: Mapping[str, int]
) -> Iterator[tuple[str, float, dict[str, Exact]]]:
    """The error bound of sums that add many numbers to one accumulator, as one thread does that adds all, or atomics.

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


def _normal(count: int, rng: np.random.Generator) -> Array:
    values = rng.standard_normal(count, dtype=np.float32)
    values += 1
    fate = rng.integers(0, 64, count, dtype=np.int8)
    values[fate < 4] = 0.0
    values[fate == 63] *= 100.0
    special.alike_in_pieces(values, rng)
    return values
