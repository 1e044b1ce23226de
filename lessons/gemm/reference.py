"""The matrix product C = A · B: inputs, the answer in float64, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    """A (M × K) and B (K × N), float32.

    "exact": integers from -8 to 8 without 0. Partial sums stay below 2^24 up to K = 262,143 and are exact in
    any order, and as no product is zero, each dropped or doubled one shows in the sum.
    "real": normally distributed, one in 16 a zero, one in 64 a hundred times larger.
    """
    draw = _integers if kind == "exact" else _normal
    return {
        "A": draw((problem["M"], problem["K"]), rng),
        "B": draw((problem["K"], problem["N"]), rng),
    }


def special_inputs(problem: Mapping[str, int], rng: np.random.Generator) -> dict[str, Array]:
    """As "real", with a NaN or an infinity in one row of A in eight, and in one column of B in eight, often the last.

    IEEE 754 has them pass into every element of such a row and column of C, where the other factor is 0 as well: in a
    row of A all along a stretch, and in whole tiles of A and of B. One row of A and one column of B are so small that
    their products are subnormals, whose sum is exact. Others are large whole numbers, up to 2^24, which no half holds.
    Half of A and half of B are masks of zeros and ones.
    """
    inputs = make_inputs(problem, rng, "real")
    for lines in (inputs["A"], inputs["B"].T):
        special.mask_of_lines(lines, rng)
    for lines, unit in ((inputs["A"], 2.0**-75), (inputs["B"].T, 2.0**-74)):
        order = rng.permutation(len(lines))
        lines[order[-1]] = unit * _integers((lines.shape[1],), rng)
        lines[order[-2:-1]] = rng.integers(1, 1 << 24, lines.shape[1])
        for line in order[: max(1, len(lines) // 8)]:
            lines[line, special.place(lines.shape[1], rng)] = rng.choice([np.nan, np.inf, -np.inf])
    special.beside_zeros(inputs["A"], inputs["B"], rng)
    for a, b in ((inputs["A"], inputs["B"]), (inputs["B"].T, inputs["A"].T)):
        special.beside_tiles_of_zeros(a, b, rng)
    return inputs


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """C (M × N), float64."""
    return {"C": inputs["A"].astype(np.float64) @ inputs["B"].astype(np.float64)}


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """|A| · |B| (M × N), float64: rounding errors of an element of C are proportional to it."""
    return {"C": np.abs(inputs["A"]).astype(np.float64) @ np.abs(inputs["B"]).astype(np.float64)}


def shapes(problem: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    m, n, k = problem["M"], problem["N"], problem["K"]
    return {"A": (m, k), "B": (k, n), "C": (m, n)}


def elements(read: Read, problem: Mapping[str, int], name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of an output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    row, column = np.divmod(places[:, None], problem["N"])
    k = np.arange(problem["K"])
    products = read("A", row * problem["K"] + k) * read("B", k * problem["N"] + column)
    return products.sum(axis=1), np.abs(products).sum(axis=1)


def min_flop(problem: Mapping[str, int]) -> int:
    """Multiplications and additions of M·N dot products of length K.

    Strassen's method needs fewer, but errs by a share of the largest elements of A and B. The tolerance is
    a share of |A|·|B| element by element, and no method that keeps within such a bound has fewer than M·N·K
    multiplications (W. Miller, "Computational complexity and numerical stability", 1975).
    """
    return problem["M"] * problem["N"] * (2 * problem["K"] - 1)


def min_bytes(problem: Mapping[str, int]) -> int:
    """A and B read once, C written once, 4 bytes an element."""
    m, n, k = problem["M"], problem["N"], problem["K"]
    return 4 * (m * k + k * n + m * n)


def _integers(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    sizes = rng.integers(1, 9, shape, dtype=np.int8)
    signs = 2 * rng.integers(0, 2, shape, dtype=np.int8) - 1
    return (sizes * signs).astype(np.float32)


def _normal(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    values = rng.standard_normal(shape, dtype=np.float32)
    fate = rng.integers(0, 64, shape, dtype=np.int8)
    values[fate < 4] = 0.0
    values[fate == 63] *= 100.0
    return values
