"""The convolution's reference: Winograd's transforms as Toom and Cook make them, the constants that stand in the
kernels, and the error bound that the judge allows such kernels."""

from __future__ import annotations

import re
from fractions import Fraction
from types import ModuleType
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseData
from grader.judge.correctness.comparison import compare
from grader.workbook import topics
from grader.workbook.kernel_file import KernelFile
from grader.workbook.ladder import Rung

TOPIC = topics.load("conv2d")
REFERENCE = cast(ModuleType, TOPIC.reference)
WINOGRAD = [rung for rung in TOPIC.rungs if "winograd" in rung.id]
SMALL = {"N": 2, "C": 5, "H": 9, "W": 6, "K": 4, "R": 3, "S": 3, "stride": 1, "pad": 1}

Array = np.ndarray[Any, np.dtype[Any]]


def matrices(m: int, dtype: type = np.float64) -> list[Array]:
    return [np.array(matrix, dtype=dtype) for matrix in REFERENCE.winograd_matrices(m, 3)]


def constants(source: str, name: str) -> list[list[Fraction]]:
    """A matrix as a kernel's source has it."""
    found = re.search(rf"constexpr float {name}\[\w+\]\[\w+\] =\s*\{{(.*?)\}};", source, re.S)
    assert found, f"no matrix {name}"
    rows = re.findall(r"\{([^{}]*)\}", found[1])
    return [[Fraction(number.strip()) for number in row.split(",")] for row in rows]


@pytest.mark.parametrize("rung", WINOGRAD, ids=lambda rung: rung.id)
def test_the_kernels_constants_are_the_generated_ones(rung: Rung[KernelFile]) -> None:
    generated = REFERENCE.winograd_matrices(2, 3)
    assert [constants(rung.source, name) for name in ("A_T", "G", "B_T")] == list(generated)


@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_the_transforms_are_a_filter(m: int, r: int, data: st.DataObject) -> None:
    a_t, g, b_t = (np.array(matrix, dtype=object) for matrix in REFERENCE.winograd_matrices(m, r))
    numbers = st.integers(-99, 99).map(Fraction)
    d = np.array([data.draw(numbers) for _ in range(m + r - 1)])
    taps = np.array([data.draw(numbers) for _ in range(r)])
    filtered = [sum(d[i + j] * taps[j] for j in range(r)) for i in range(m)]
    assert list(a_t @ ((g @ taps) * (b_t @ d))) == filtered


def winograd(data: CaseData, problem: dict[str, int]) -> Array:
    """y by F(2×2, 3×3), every operation in single precision."""
    a_t, g, b_t = matrices(2, np.float32)
    x, w = data.inputs["x"], data.inputs["w"]
    p, q = data.expected["y"].shape[2:]
    down, across, pad = -(-p // 2), -(-q // 2), problem["pad"]
    after = [2 * tiles + 2 - size - pad for tiles, size in ((down, problem["H"]), (across, problem["W"]))]
    padded = np.pad(x, ((0, 0), (0, 0), (pad, after[0]), (pad, after[1])))
    tiles = np.lib.stride_tricks.sliding_window_view(padded, (4, 4), (2, 3))[:, :, ::2, ::2]
    products = np.zeros((len(x), len(w), down, across, 4, 4), np.float32)
    for c in range(problem["C"]):
        products += (g @ w[None, :, None, None, c] @ g.T) * (b_t @ tiles[:, None, c] @ b_t.T)
    outputs = a_t @ products @ a_t.T
    return outputs.swapaxes(3, 4).reshape(len(x), len(w), 2 * down, 2 * across)[:, :, :p, :q]


@settings(max_examples=25)
@given(st.integers(0, 999), st.integers(1, 40), st.integers(0, 2))
def test_winograds_errors_keep_within_their_bound(seed: int, channels: int, pad: int) -> None:
    problem = {**SMALL, "C": channels, "pad": pad}
    data = cases.compute(TOPIC, cases.make(problem, "real", seed))
    y = winograd(data, problem)
    assert data.compare("y", y).right
    (bounds,) = data.wider().values()
    comparison = compare("y", y, data.expected["y"], bounds["y"])
    assert comparison.error is not None
    assert comparison.error < 0.3


def test_winograd_is_exact_where_the_judge_asks_for_equality() -> None:
    data = cases.compute(TOPIC, cases.make(SMALL, "exact"))
    assert np.array_equal(winograd(data, SMALL), data.expected["y"])


def test_a_sum_as_written_needs_no_wider_bound() -> None:
    data = cases.compute(TOPIC, cases.make(SMALL, "real"))
    x, w = data.inputs["x"], data.inputs["w"]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    y = np.einsum("ncpqrs,kcrs->nkpq", windows, w)
    assert y.dtype == np.float32
    comparison = data.compare("y", y)
    assert comparison.right
    assert comparison.bound is None


def test_the_bound_sees_the_whole_tile() -> None:
    """One element of x disturbs all outputs of its tile, also those whose sum it is no part of."""
    inputs = {"x": np.zeros((1, 1, 4, 4), np.float32), "w": np.ones((1, 1, 3, 3), np.float32)}
    inputs["x"][0, 0, 3, 3] = 1.0
    problem = {"N": 1, "C": 1, "H": 4, "W": 4, "K": 1, "R": 3, "S": 3, "stride": 1, "pad": 0}
    assert REFERENCE.magnitude(inputs, problem)["y"].tolist() == [[[[0, 0], [0, 1]]]]
    ((name, terms, wider),) = REFERENCE.transformed_bounds(inputs, problem)
    assert name == "Winograd F(2×2, 3×3)"
    assert terms == 11
    assert (wider["y"] >= REFERENCE.magnitude(inputs, problem)["y"]).all()
    inputs["x"][:] = 0.0
    inputs["x"][0, 0, 1, 3] = 1.0
    ((_, _, wider),) = REFERENCE.transformed_bounds(inputs, problem)
    assert REFERENCE.magnitude(inputs, problem)["y"][0, 0, 0, 0] == 0.0
    assert wider["y"][0, 0, 0, 0] == 0.0  # Aᵀ's first row has no share in Bᵀ's last
    assert wider["y"][0, 0, 1, 1] > 1.0


def test_rounding_x_to_halves_is_more_than_any_bound_allows() -> None:
    data = cases.compute(TOPIC, cases.make(SMALL, "real"))
    rounded = {**data.inputs, "x": data.inputs["x"].astype(np.float16).astype(np.float32)}
    y = TOPIC.reference.reference(rounded, SMALL)["y"].astype(np.float32)
    assert not data.compare("y", y).right


@pytest.mark.parametrize(
    "problem", TOPIC.judge_cases, ids=lambda problem: "-".join(map(str, problem.values()))
)
def test_the_reference_is_the_formula(problem: dict[str, int]) -> None:
    inputs = TOPIC.reference.make_inputs(problem, np.random.default_rng(3), "exact")
    x, w, stride, pad = inputs["x"], inputs["w"], problem["stride"], problem["pad"]
    y = TOPIC.reference.reference(inputs, problem)["y"]
    n, k, p, q = (size - 1 for size in y.shape)  # the last output sees the most of what is at the edges
    total = 0.0
    for c, r, s in np.ndindex(w.shape[1:]):
        row, column = p * stride - pad + r, q * stride - pad + s
        if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
            total += float(x[n, c, row, column] * w[k, c, r, s])
    assert y[n, k, p, q] == total
