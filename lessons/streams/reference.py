"""R rounds of x + 1 on every element: inputs, the answer, and what no schedule can do without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Exact = NDArray[np.float64]


def make_inputs(
    problem: Mapping[str, int], rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """in (N), float32. "exact": whole numbers up to 2²⁰, so that all rounds are exact. "real": normally
    distributed."""
    count = problem["N"]
    if kind == "exact":
        return {"source": rng.integers(1, 1 << 20, count, dtype=np.int32).astype(np.float32)}
    return {"source": rng.standard_normal(count, dtype=np.float32)}


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """out (N), float64: in + R."""
    return {"target": inputs["source"].astype(np.float64) + problem["R"]}


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """|in| + R, what the roundings are relative to."""
    return {"target": np.abs(inputs["source"]).astype(np.float64) + problem["R"]}


def min_flop(problem: Mapping[str, int]) -> int:
    """Two multiply-adds an element and round."""
    return 4 * problem["N"] * problem["R"]


def min_bytes(problem: Mapping[str, int]) -> int:
    """Every element read once and written once, 4 bytes each."""
    return 8 * problem["N"]
