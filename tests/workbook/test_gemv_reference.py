"""What the inputs of `gemv` promise, what its bound lets pass, and what it says of wrong outputs."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from grader.workbook import topics

Array = np.ndarray[Any, np.dtype[Any]]

TOPIC = topics.load("gemv")
SIZES = [(67, 101), (1, 1), (3, 8191), (2, 16392)]


def drawn(kind: Literal["exact", "real"], n: int, k: int) -> tuple[Array, Array]:
    inputs = TOPIC.reference.make_inputs({"N": n, "K": k}, np.random.default_rng(1), kind)
    return inputs["W"], inputs["x"]


def said(weights: Array, x: Array, y: Array) -> str | None:
    """What the topic says of an output."""
    problem = {"N": len(weights), "K": len(x)}
    return TOPIC.mistake({"W": weights, "x": x}, {"y": y.astype(np.float16)}, problem)


def bound(weights: Array, x: Array) -> Array:
    problem = {"N": len(weights), "K": len(x)}
    magnitude: Array = TOPIC.reference.magnitude({"W": weights, "x": x}, problem)["y"]
    return 2.0**-11 * magnitude


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_exact_sums_are_exact_as_floats_and_no_product_is_zero(n: int, k: int) -> None:
    weights, x = drawn("exact", n, k)
    products = weights.astype(np.float64) * x.astype(np.float64)
    assert products.all()
    assert np.abs(products).max() <= 31 * 31
    assert np.abs(np.cumsum(products, axis=1)).max() < 2**24
    assert np.abs(products.sum(axis=1)).max() < 65504


def test_parts_of_exact_rows_are_more_than_a_half_counts() -> None:
    weights, x = drawn("exact", 8, 1024)
    products = weights.astype(np.float64) * x.astype(np.float64)
    of_lanes = products.reshape(8, 32, 32).sum(axis=1)
    assert (of_lanes.astype(np.float16) != of_lanes).any(axis=1).mean() > 0.5


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_the_bound_admits_a_sum_of_floats_in_a_row(n: int, k: int) -> None:
    weights, x = drawn("real", n, k)
    right = weights.astype(np.float64) @ x.astype(np.float64)
    products = weights.astype(np.float32) * x.astype(np.float32)
    y = np.cumsum(products, axis=1, dtype=np.float32)[:, -1].astype(np.float16)
    assert (np.abs(y - right) <= bound(weights, x)).all()


@pytest.mark.parametrize(("n", "k"), [(67, 101), (64, 1024)])
def test_the_bound_refuses_sums_of_lanes_in_halves(n: int, k: int) -> None:
    weights, x = drawn("real", n, k)
    right = weights.astype(np.float64) @ x.astype(np.float64)
    parts = np.zeros((n, 32), np.float16)
    for first in range(0, k, 32):
        products = weights[:, first : first + 32] * x[first : first + 32]
        parts[:, : products.shape[1]] += products
    y = parts.astype(np.float32).sum(axis=1).astype(np.float16)
    assert (np.abs(y - right) > bound(weights, x)).any()


MISTAKES = {
    "taken to be column-major": lambda w, x: w.reshape(w.shape[::-1]).T @ x,
    "the last 5 are left out": lambda w, x: w[:, :96] @ x[:96],
    "the first warp of a row": lambda w, x: sum(w[:, k] * x[k] for k in range(len(x)) if k % 256 < 32),
    "the first thread of a row": lambda w, x: w[:, ::32] @ x[::32],
}


@pytest.mark.parametrize("text", MISTAKES)
def test_it_is_said_what_is_behind_a_wrong_output(text: str) -> None:
    n, k = (67, 101) if "left out" in text else (9, 1028)
    weights, x = drawn("exact", n, k)
    found = said(weights, x, MISTAKES[text](weights.astype(np.float64), x.astype(np.float64)))
    assert found is not None
    assert text in found


def test_of_a_right_output_and_of_zeros_nothing_is_said() -> None:
    weights, x = drawn("exact", 67, 101)
    right = weights.astype(np.float64) @ x.astype(np.float64)
    assert said(weights, x, right) is None
    assert said(weights, x, np.zeros_like(right)) is None
