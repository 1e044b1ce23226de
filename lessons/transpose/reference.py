"""The transpose out = inᵀ: inputs, the answer, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]

_EXACT_INTEGERS = 2**24
"""Every integer up to here is a float32."""


def make_inputs(
    problem: Mapping[str, int], rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """in (M × N), float32.

    "exact": shuffled integers from 1 on, all different where there are enough of them, so that an element in
    a wrong place shows wherever it comes from.
    "real": normally distributed, one in 16 a zero, one in 64 as large or as small as a float32 can be.
    """
    shape = (problem["M"], problem["N"])
    return {"in": _integers(shape, rng) if kind == "exact" else _normal(shape, rng)}


def special_inputs(problem: Mapping[str, int], rng: np.random.Generator) -> dict[str, Array]:
    """Any bits at all, one element in 16 of each kind of its own: NaN that are quiet and that signal, with payloads,
    infinities, −0 and subnormals. A transpose keeps every bit. The border of all tiles of 16 is zero, and so is that
    of larger ones."""
    shape = (problem["M"], problem["N"])
    bits = rng.integers(0, 1 << 32, shape, dtype=np.uint32)
    fate = rng.integers(0, 16, shape, dtype=np.int8)
    bits[fate == 0] |= 0x7FC00000  # quiet NaN
    bits[fate == 1] = bits[fate == 1] & 0xFFBFFFFF | 0x7F800001  # signalling NaN
    bits[fate == 2] = bits[fate == 2] & 0x80000000 | 0x7F800000  # infinities
    bits[fate == 3] = 0x80000000  # -0
    bits[fate == 4] &= 0x807FFFFF  # subnormals
    for lines in (bits, bits.T):
        lines[::16] = lines[15::16] = 0
    return {"in": bits.view(np.float32)}


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """out (N × M), float64."""
    return {"out": np.ascontiguousarray(inputs["in"].T, dtype=np.float64)}


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """|out| (N × M), float64; a transpose has no rounding errors that it could be the measure of."""
    return {"out": np.abs(inputs["in"].T).astype(np.float64, order="C")}


def shapes(problem: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    m, n = problem["M"], problem["N"]
    return {"in": (m, n), "out": (n, m)}


def elements(read: Read, problem: Mapping[str, int], name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of an output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    column, row = np.divmod(places, problem["M"])
    values = read("in", row * problem["N"] + column)
    return values, np.abs(values)


def min_flop(problem: Mapping[str, int]) -> int:
    """None: elements are moved, not computed with."""
    return 0


def min_bytes(problem: Mapping[str, int]) -> int:
    """Every element read once and written once, 4 bytes each."""
    return 8 * problem["M"] * problem["N"]


def _integers(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    count = shape[0] * shape[1]
    if count <= _EXACT_INTEGERS:
        return (rng.permutation(count) + 1).astype(np.float32).reshape(shape)
    return rng.integers(1, _EXACT_INTEGERS, shape, dtype=np.int32, endpoint=True).astype(np.float32)


def _normal(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    values = rng.standard_normal(shape, dtype=np.float32)
    fate = rng.integers(0, 128, shape, dtype=np.int8)
    values[fate < 8] = 0.0
    values[fate == 126] *= np.float32(3e37)
    values[fate == 127] *= np.float32(1e-42)
    return values
