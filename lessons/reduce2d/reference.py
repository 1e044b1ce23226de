"""Sums of a matrix along its rows and its columns: inputs, the answers, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]


def make_inputs(
    problem: Mapping[str, int], rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """in (M × N), float32.

    "exact": integers from -8 to 8 without 0. Sums of any of them stay below 2^24 up to 2,097,151 elements a row
    or column and are exact in any order, and as none is zero, each dropped or doubled one shows in a sum.
    "real": normally distributed about 1, so that sums grow with their length while some elements are negative;
    one in 16 a zero, one in 64 a hundred times larger.
    """
    draw = _integers if kind == "exact" else _normal
    return {"in": draw((problem["M"], problem["N"]), rng)}


def special_inputs(problem: Mapping[str, int], rng: np.random.Generator) -> dict[str, Array]:
    """As "real", with a NaN or an infinity in one row in eight, which passes into the sums of its row and its column,
    and with one row of subnormals, whose sum is exact. Of one row in eight, elements go from 2^-100 to 2^100."""
    inputs = make_inputs(problem, rng, "real")
    matrix = inputs["in"]
    for row in rng.permutation(len(matrix))[: len(matrix) // 8]:
        matrix[row] *= np.exp2(rng.integers(-100, 101, matrix.shape[1]))
    multiples = rng.integers(1, 1000, matrix.shape[1])
    matrix[rng.integers(len(matrix))] = multiples * np.finfo(np.float32).smallest_subnormal
    for row in rng.permutation(len(matrix))[: max(1, len(matrix) // 8)]:
        matrix[row, rng.integers(matrix.shape[1])] = rng.choice([np.nan, np.inf, -np.inf])
    return inputs


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """rows (M) and cols (N), float64."""
    return _sums(inputs["in"])


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """Σ|in| of each row (M) and column (N), float64: rounding errors of the sums are proportional to it."""
    return _sums(np.abs(inputs["in"]))


def yardstick(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Array]:
    """rows (M) and cols (N), float32, by pairwise summation: neighbours are added, then neighbouring sums."""
    return {"rows": _pairwise(inputs["in"].T), "cols": _pairwise(inputs["in"])}


def shapes(problem: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    m, n = problem["M"], problem["N"]
    return {"in": (m, n), "rows": (m,), "cols": (n,)}


def elements(read: Read, problem: Mapping[str, int], name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of an output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    m, n = problem["M"], problem["N"]
    if name == "rows":
        terms = read("in", places[:, None] * n + np.arange(n))
    else:
        terms = read("in", np.arange(m) * n + places[:, None])
    return terms.sum(axis=1), np.abs(terms).sum(axis=1)


def min_flop(problem: Mapping[str, int]) -> int:
    """The additions of the sums of which there are more elements to add; the others may share some."""
    m, n = problem["M"], problem["N"]
    return max(m * (n - 1), n * (m - 1))


def min_bytes(problem: Mapping[str, int]) -> int:
    """Every element read once, every sum written, 4 bytes each."""
    return 4 * problem["M"] * problem["N"] + written_bytes(problem)


def written_bytes(problem: Mapping[str, int]) -> int:
    """The sums."""
    return 4 * (problem["M"] + problem["N"])


def _sums(matrix: Array) -> dict[str, Exact]:
    return {"rows": matrix.sum(axis=1, dtype=np.float64), "cols": matrix.sum(axis=0, dtype=np.float64)}


def _pairwise(matrix: Array) -> Array:
    """The sum of all rows of a matrix."""
    while len(matrix) > 1:
        odd = matrix[-1:] if len(matrix) % 2 else matrix[:0]
        matrix = np.concatenate([matrix[: len(matrix) // 2 * 2 : 2] + matrix[1::2], odd])
    return np.ascontiguousarray(matrix[0])


def _integers(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    sizes = rng.integers(1, 9, shape, dtype=np.int8)
    signs = 2 * rng.integers(0, 2, shape, dtype=np.int8) - 1
    return (sizes * signs).astype(np.float32)


def _normal(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    values = rng.standard_normal(shape, dtype=np.float32)
    values += 1
    fate = rng.integers(0, 64, shape, dtype=np.int8)
    values[fate < 4] = 0.0
    values[fate == 63] *= 100.0
    return values
