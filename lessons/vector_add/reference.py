"""The sum c = a + b of two arrays: inputs, the answer in float64, and what no algorithm can do without."""

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
    """a and b (N each), float32.

    "exact": integers up to 2^20 in either direction, whose sums are exact; of so many values, an element in a wrong
    place shows.
    "real": normally distributed, one in 16 a zero, one in 64 a thousand times larger.
    """
    draw = _integers if kind == "exact" else _normal
    return {"a": draw(problem["N"], rng), "b": draw(problem["N"], rng)}


def special_inputs(problem: Mapping[str, int], rng: np.random.Generator) -> dict[str, Array]:
    """As "real", one element in 32 NaN, infinite, −0, a subnormal or a largest number: the sum is that of IEEE 754."""
    inputs = make_inputs(problem, rng, "real")
    float32 = np.finfo(np.float32)
    ends = float32.smallest_subnormal, float32.min, float32.max
    kinds = np.array([np.nan, np.inf, -np.inf, -0.0, *ends], np.float32)
    for values in inputs.values():
        chosen = rng.random(len(values)) < 1 / 32
        values[chosen] = rng.choice(kinds, int(chosen.sum()))
    return inputs


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """c (N), float64."""
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is NaN, as it should be
        return {"c": inputs["a"].astype(np.float64) + inputs["b"]}


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """|a| + |b| (N), float64."""
    return {"c": np.abs(inputs["a"]).astype(np.float64) + np.abs(inputs["b"])}


def on_cpu(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Array]:
    """c (N), float32, by NumPy."""
    return {"c": inputs["a"] + inputs["b"]}


def shapes(problem: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    return dict.fromkeys(("a", "b", "c"), (problem["N"],))


def elements(read: Read, problem: Mapping[str, int], name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of an output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    a, b = read("a", places), read("b", places)
    return a + b, np.abs(a) + np.abs(b)


def min_flop(problem: Mapping[str, int]) -> int:
    """An addition an element."""
    return problem["N"]


def min_bytes(problem: Mapping[str, int]) -> int:
    """Two elements read and one written, 4 bytes each."""
    return 12 * problem["N"]


def written_bytes(problem: Mapping[str, int]) -> int:
    """c."""
    return 4 * problem["N"]


def _integers(count: int, rng: np.random.Generator) -> Array:
    return rng.integers(-(2**20), 2**20, count, dtype=np.int32, endpoint=True).astype(np.float32)


def _normal(count: int, rng: np.random.Generator) -> Array:
    values = rng.standard_normal(count, dtype=np.float32)
    fate = rng.integers(0, 64, count, dtype=np.int8)
    values[fate < 4] = 0.0
    values[fate == 63] *= 1000.0
    return values
