"""The matrix-vector product y = W · x of halves: inputs, the answer in float64, and what no algorithm can do
without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from grader.workbook import special
from grader.workbook.misplaced import GROUPS, WARPS

Array = NDArray[np.float16]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]

LARGEST = 31
"""Of the integers of exact cases: three of their products may be more than half precision counts."""

LAMBDA = 6
"""The factor of what the sum may be off by in single precision."""

HALF, SINGLE = 2.0**-11, 2.0**-24
"""Units of rounding of half and of single precision."""

TINY = 2.0**-24
"""The smallest subnormal half."""


def make_inputs(
    problem: Mapping[str, int], rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """W (N × K) and x (K), float16.

    "exact": integers from -LARGEST to LARGEST, none of them 0. Columns come in pairs, anywhere in the row, whose
    elements of x are the same and whose weights add up to -1, 0 or 1. So a row's sum is small, and mostly a number that
    halves hold, while that of a part of the row is large. In single precision sums are exact up to K = 17,457 in any
    order, and in longer rows wherever terms are not sorted by their signs; in half precision those of three products
    may not be. As no product is zero, each dropped or doubled one shows.
    "real": normally distributed, one in 16 a zero, one in 64 ten times larger. special.of_a_factor changes some rows of
    W, and some of the time x.
    """
    shape = problem["N"], problem["K"]
    weights, x = (
        _pairs(shape, rng) if kind == "exact" else (_normal(shape, rng), _normal((1, shape[1]), rng)[0])
    )
    return {"W": weights, "x": x}


def special_inputs(problem: Mapping[str, int], rng: np.random.Generator) -> dict[str, Array]:
    """As "real", with a NaN or an infinity in one row of W in eight, and one row of subnormals. IEEE 754 has NaN pass
    into y, and an infinity as well, which times 0 is NaN. Where N leaves a remainder of 2 by 4, x has a NaN, and y is
    NaN as a whole; of 3, x has an infinity, and half of the rows of W, neighbours, a stretch of zeros around it. The
    second row begins with one, which is none of the first row's."""
    inputs = make_inputs(problem, rng, "real")
    weights = inputs["W"]
    order = rng.permutation(len(weights))
    weights[order[-1]] = rng.integers(1, 1024, weights.shape[1]) * np.finfo(np.float16).smallest_subnormal
    rows = order[: max(1, len(weights) // 8)]
    columns = rng.integers(weights.shape[1], size=len(rows))
    weights[rows, columns] = rng.choice([np.nan, np.inf, -np.inf], len(rows))
    weights[1:2, 0] = np.nan
    inputs["x"][columns[0]] = 0
    if len(weights) % 4 > 1:
        place = special.zeros_in(weights[len(weights) // 2 :], rng)
        inputs["x"][place] = np.nan if len(weights) % 4 == 2 else np.inf
    return inputs


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """y (N), float64."""
    return {"y": inputs["W"].astype(np.float64) @ inputs["x"].astype(np.float64)}


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """What errors of y are bounded by, (N), float64: see _magnitude."""
    sums = np.abs(inputs["W"]).astype(np.float64) @ np.abs(inputs["x"]).astype(np.float64)
    return {"y": _magnitude(reference(inputs, problem)["y"], sums, problem["K"])}


def shapes(problem: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    n, k = problem["N"], problem["K"]
    return {"W": (n, k), "x": (k,), "y": (n,)}


def elements(read: Read, problem: Mapping[str, int], name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of the output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    k = np.arange(problem["K"])
    products = read("W", places[:, None] * problem["K"] + k) * read("x", k)
    y = products.sum(axis=1)
    return y, _magnitude(y, np.abs(products).sum(axis=1), problem["K"])


def min_flop(problem: Mapping[str, int]) -> int:
    """Multiplications and additions of N dot products of length K."""
    return problem["N"] * (2 * problem["K"] - 1)


def min_bytes(problem: Mapping[str, int]) -> int:
    """W and x read once, y written once, 2 bytes an element."""
    return 2 * problem["N"] * problem["K"] + 2 * problem["K"] + written_bytes(problem)


def written_bytes(problem: Mapping[str, int]) -> int:
    """y."""
    return 2 * problem["N"]


def mistake(
    inputs: Mapping[str, Array], outputs: Mapping[str, Array], problem: Mapping[str, int]
) -> str | None:
    """What is behind a wrong y: the one formula that gives all of it, rounded to halves. In exact cases each does so to
    the bit."""
    weights, x, y = (array.astype(np.float64) for array in (inputs["W"], inputs["x"], outputs["y"]))
    with np.errstate(all="ignore"):
        if np.array_equal(_stored(weights @ x), y, equal_nan=True):
            return None
        found = {
            text for text, gives in _formulas(weights, x) if np.array_equal(_stored(gives), y, equal_nan=True)
        }
    return found.pop() if len(found) == 1 else None


def _stored(sums: Exact) -> Array:
    return sums.astype(np.float16)


def _formulas(weights: Exact, x: Exact) -> Iterator[tuple[str, Exact]]:
    """Mistaken formulas of y with what they give."""
    rows, columns = weights.shape
    yield _COLUMN_MAJOR, weights.reshape(columns, rows).T @ x
    for whole in {columns // group * group for group in GROUPS} - {0, columns}:
        yield _TAIL.format(whole=whole, columns=columns, rest=columns - whole), weights[:, :whole] @ x[:whole]
    for width in WIDTHS:
        place = np.arange(columns) // width
        for threads in WARPS:
            for text, own in ((_FIRST_WARP, place % threads < LANES), (_FIRST_LANE, place % threads == 0)):
                yield text, weights[:, own] @ x[own]


WIDTHS = (1, 2, 8)
"""Halves that a thread loads at once."""

LANES = 32
"""Of a warp."""

_COLUMN_MAJOR = "W is taken to be column-major. It is row-major: element k of row n is W[n * K + k]."

_TAIL = (
    "y is the sum over the first {whole} of {columns} elements of a row: the last {rest} are left out. Go on up to K, "
    "with a loop whose condition compares the index itself with K."
)

_FIRST_WARP = (
    "y is what the first warp of a row has added up: the sums of the other warps are missing. Let lane 0 of each warp "
    "store its sum in shared memory, and add them up behind a __syncthreads()."
)

_FIRST_LANE = (
    "y is what the first thread of a row has added up: the sums of the others are missing. Add up those of a warp by "
    "__shfl_down_sync, with distances of 16, 8, 4, 2 and 1."
)


def _magnitude(y: Exact, sums: Exact, k: int) -> Exact:
    """An error bound, in units of HALF, where `sums` are Σ|w·x|:

    - y is rounded to half precision once: |y|, or half the distance between subnormals;
    - products of halves are exact in single precision, and K of them are added up: λ · √K units of SINGLE of Σ|w·x|,
      as hgemm allows.
    """
    with np.errstate(invalid="ignore"):
        bound: Exact = np.abs(y) + TINY / HALF + SINGLE / HALF * LAMBDA * np.sqrt(k) * sums
        return bound


def _pairs(shape: tuple[int, int], rng: np.random.Generator) -> tuple[Array, Array]:
    rows, columns = shape
    x = _integers(columns, rng, LARGEST)
    weights = _integers(shape, rng, LARGEST - 1)
    pairs = columns // 2
    order = rng.permutation(columns)
    one, other = order[:pairs], order[pairs : 2 * pairs]
    x[other] = x[one]
    opposite = rng.integers(-1, 2, (rows, pairs), dtype=np.int8) - weights[:, one]
    weights[:, other] = np.where(opposite == 0, -weights[:, one], opposite)
    return weights.astype(np.float16), x.astype(np.float16)


def _integers(shape: int | tuple[int, int], rng: np.random.Generator, largest: int) -> NDArray[np.int8]:
    sizes = rng.integers(1, largest + 1, shape, dtype=np.int8)
    signs = 2 * rng.integers(0, 2, shape, dtype=np.int8) - 1
    return (sizes * signs).astype(np.int8)


def _normal(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    values = rng.standard_normal(shape, dtype=np.float32)
    fate = rng.integers(0, 64, shape, dtype=np.int8)
    values[fate < 4] = 0.0
    values[fate == 63] *= 10.0
    special.of_a_factor(values, rng)
    return values.astype(np.float16)
