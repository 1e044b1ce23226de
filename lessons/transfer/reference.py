"""T products X ← A·X, from X = B to X = C: inputs, the answer, and NumPy on the CPU."""

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
    """A and B (N × N), float32.

    "exact": A has one 1 or −1 in each row, B whole numbers: every product is exact, however many follow.
    "real": A is nine tenths of such a matrix and one tenth of noise, so that products neither grow nor fade; where N is
    two more than a multiple of 3, it is nearly the identity, so that one product hardly changes anything.
    """
    N = problem["N"]
    turn = np.zeros((N, N), np.float32)
    turn[np.arange(N), rng.permutation(N)] = rng.choice(np.array([-1, 1], np.float32), N)
    if kind == "exact":
        return {"A": turn, "B": rng.integers(-99, 100, (N, N)).astype(np.float32)}
    if N % 3 == 2:
        turn = np.identity(N, np.float32) * np.float32(1 + 2**-18)
        return {"A": turn, "B": rng.standard_normal((N, N)).astype(np.float32)}
    noise = rng.standard_normal((N, N)).astype(np.float32) * np.float32(0.1 / N)
    return {"A": np.float32(0.9) * turn + noise, "B": rng.standard_normal((N, N)).astype(np.float32)}


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """C (N × N), float64."""
    return {"C": _products(inputs["A"].astype(np.float64), inputs["B"].astype(np.float64), problem["T"])}


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """|A|·(… ·(|A|·|B|)): what the rounding errors of T products in a row are relative to."""
    A, B = np.abs(inputs["A"].astype(np.float64)), np.abs(inputs["B"].astype(np.float64))
    return {"C": _products(A, B, problem["T"])}


def on_cpu(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Array]:
    """The same in float32, by NumPy: what the GPU has to beat."""
    X = inputs["B"]
    for _ in range(problem["T"]):
        X = inputs["A"] @ X
    return {"C": X}


def min_flop(problem: Mapping[str, int]) -> int:
    """T products of N³ multiply-adds."""
    return 2 * problem["T"] * problem["N"] ** 3


def min_bytes(problem: Mapping[str, int]) -> int:
    """A and B read once, C written once, 4 bytes an element."""
    return 12 * problem["N"] ** 2


def _products(A: Exact, X: Exact, count: int) -> Exact:
    for _ in range(count):
        X = A @ X
    return X
