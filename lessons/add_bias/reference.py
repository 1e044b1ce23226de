"""A row added to every row of a matrix: inputs, the answer in float64, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]

WARP = 32


def make_inputs(
    problem: Mapping[str, int], rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """in (M × N) and bias (N), float32.

    "exact": integers up to 2^20 in either direction, whose sums are exact; of so many values, an element in a wrong
    place shows. Of the bias, every other 32 cancel each other.
    "real": normally distributed, one in 16 a zero, one in 64 a thousand times larger.
    """
    draw = _integers if kind == "exact" else _normal
    m, n = problem["M"], problem["N"]
    matrix, bias = draw(m * n, rng).reshape(m, n), draw(n, rng)
    if kind == "exact":
        groups = bias[: n // WARP * WARP].reshape(-1, WARP)[::2]
        groups[:, WARP // 2 :] = -groups[:, : WARP // 2]
    return {"in": matrix, "bias": bias}


def special_inputs(problem: Mapping[str, int], rng: np.random.Generator) -> dict[str, Array]:
    """As "real", one element in 32 NaN, infinite, −0, a subnormal or a largest number: the sum is that of IEEE 754."""
    inputs = make_inputs(problem, rng, "real")
    float32 = np.finfo(np.float32)
    ends = float32.smallest_subnormal, float32.min, float32.max
    kinds = np.array([np.nan, np.inf, -np.inf, -0.0, *ends], np.float32)
    for values in inputs.values():
        chosen = rng.random(values.shape) < 1 / 32
        values[chosen] = rng.choice(kinds, int(chosen.sum()))
    return inputs


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """out (M × N), float64."""
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is NaN, as it should be
        return {"out": inputs["in"].astype(np.float64) + inputs["bias"]}


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """|in| + |bias| (M × N), float64."""
    return {"out": np.abs(inputs["in"]).astype(np.float64) + np.abs(inputs["bias"])}


def on_cpu(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Array]:
    """out (M × N), float32, by NumPy."""
    return {"out": inputs["in"] + inputs["bias"]}


def shapes(problem: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    matrix = (problem["M"], problem["N"])
    return {"in": matrix, "bias": (problem["N"],), "out": matrix}


def elements(read: Read, problem: Mapping[str, int], name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of an output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    element, bias = read("in", places), read("bias", places % problem["N"])
    return element + bias, np.abs(element) + np.abs(bias)


def min_flop(problem: Mapping[str, int]) -> int:
    """An addition an element."""
    return problem["M"] * problem["N"]


def min_bytes(problem: Mapping[str, int]) -> int:
    """The matrix and the row read once, the sum written, 4 bytes an element."""
    return 4 * (2 * problem["M"] * problem["N"] + problem["N"])


def written_bytes(problem: Mapping[str, int]) -> int:
    """out."""
    return 4 * problem["M"] * problem["N"]


def _integers(count: int, rng: np.random.Generator) -> Array:
    return rng.integers(-(2**20), 2**20, count, dtype=np.int32, endpoint=True).astype(np.float32)


def _normal(count: int, rng: np.random.Generator) -> Array:
    values = rng.standard_normal(count, dtype=np.float32)
    fate = rng.integers(0, 64, count, dtype=np.int8)
    values[fate < 4] = 0.0
    values[fate == 63] *= 1000.0
    return values
