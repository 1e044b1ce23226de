"""What the inputs of `attention` promise, what its bound lets pass, and what it says of wrong outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from grader.workbook import topics

Array = np.ndarray[Any, np.dtype[Any]]
Problem = dict[str, int | float]

TOPIC = topics.load("attention")


def problem(s: int, causal: int, heads: int = 3, d: int = 64, scale: float = 0.125) -> Problem:
    return {"B": 2, "H": heads, "S": s, "D": d, "scale": scale, "causal": causal}


def drawn(of: Problem, kind: Literal["exact", "real"]) -> dict[str, Array]:
    return dict(TOPIC.reference.make_inputs(of, np.random.default_rng(1), kind))


def bound(inputs: dict[str, Array], of: Problem) -> Array:
    found: Array = 2.0**-11 * TOPIC.reference.magnitude(inputs, of)["O"]
    return found


def scores(inputs: dict[str, Array], of: Problem, scale: float | None = None) -> Array:
    """-∞ where a key does not count."""
    q, k = (inputs[name].astype(np.float64) for name in "QK")
    found = np.float32(of["scale"] if scale is None else scale) * (q @ k.swapaxes(2, 3))
    masked: Array = np.where(np.tri(int(of["S"])) > 0, found, -np.inf) if of["causal"] else found
    return masked


def softmax(x: Array) -> Array:
    terms = np.exp(x - x.max(axis=3, keepdims=True))
    found: Array = terms / terms.sum(axis=3, keepdims=True)
    return found


def in_tiles(
    inputs: dict[str, Array],
    of: Problem,
    outputs_scaled: bool = True,
    sum_scaled: bool = True,
    p_type: type[np.floating] = np.float16,
    sum_type: type[np.floating] = np.float32,
    score_type: type[np.floating] = np.float32,
) -> Array:
    """O as kernels compute it, 16 keys at a time."""
    x, v = scores(inputs, of).astype(score_type).astype(np.float32), inputs["V"].astype(np.float32)
    maximum = np.full((*x.shape[:3], 1), -np.inf, np.float32)
    total, o = np.zeros_like(maximum), np.zeros(v.shape, sum_type)
    for first in range(0, x.shape[3], 16):
        tile = x[..., first : first + 16]
        larger = np.maximum(maximum, tile.max(axis=3, keepdims=True))
        factor, p = np.exp(maximum - larger), np.exp(tile - larger)
        maximum = larger
        total = total * (factor if sum_scaled else 1) + p.sum(axis=3, keepdims=True)
        o = (o * (factor if outputs_scaled else 1)).astype(sum_type)
        o = (o + p.astype(p_type).astype(np.float32) @ v[..., first : first + 16, :]).astype(sum_type)
    return (o / total).astype(np.float16)


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize(("s", "d", "scale"), [(67, 64, 0.125), (1, 128, 1.0), (257, 64, 0.5), (2, 64, 0.01)])
def test_weights_of_exact_cases_are_equal_and_2_to_some_power(
    s: int, d: int, scale: float, causal: int
) -> None:
    of = problem(s, causal, d=d, scale=scale)
    inputs = drawn(of, "exact")
    terms = np.exp(scores(inputs, of) - scores(inputs, of).max(axis=3, keepdims=True)).astype(np.float32)
    assert set(np.unique(terms)) <= {0.0, 1.0}
    counts = terms.sum(axis=3).astype(int)
    assert (counts & (counts - 1) == 0).all()
    assert np.abs(inputs["Q"].astype(np.float64)).max() < 2048
    if s > 16:
        assert len(np.unique(counts)) > 3


@pytest.mark.parametrize(("s", "causal"), [(67, 1), (300, 0)])
def test_exact_answers_round_the_same_where_queries_are_scaled_beforehand(s: int, causal: int) -> None:
    of = problem(s, causal, d=128, scale=128**-0.5)
    inputs = drawn(of, "exact")
    q = inputs["Q"].astype(np.float32) * (np.float32(of["scale"]) * np.float32(np.log2(np.e)))
    x = scores({**inputs, "Q": q}, of, scale=1.0).astype(np.float32)
    terms = np.exp2(x - x.max(axis=3, keepdims=True))
    o = terms @ inputs["V"].astype(np.float32) / terms.sum(axis=3, keepdims=True)
    np.testing.assert_array_equal(o.astype(np.float16), TOPIC.reference.reference(inputs, of)["O"])


@pytest.mark.parametrize("kind", ["exact", "real"])
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("p_type", [np.float16, np.float32])
def test_the_bound_admits_what_tensor_cores_compute(
    kind: Literal["exact", "real"], causal: int, p_type: type[np.floating]
) -> None:
    of = problem(131, causal)
    inputs = drawn(of, kind)
    right, o = TOPIC.reference.reference(inputs, of)["O"], in_tiles(inputs, of, p_type=p_type)
    if kind == "exact":
        assert np.array_equal(o, right.astype(np.float16))
    assert (np.abs(o - right) <= bound(inputs, of)).all()


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("narrow", ["sum_type", "score_type"])
def test_the_bound_refuses_sums_and_scores_in_halves(narrow: str, causal: int) -> None:
    of = problem(131, causal)
    inputs = drawn(of, "real")
    right = TOPIC.reference.reference(inputs, of)["O"]
    o = in_tiles(inputs, of, **{narrow: np.float16})  # type: ignore[arg-type]
    assert (np.abs(o - right) > bound(inputs, of)).any()


@pytest.mark.parametrize("causal", [0, 1])
def test_a_nan_of_a_key_reaches_the_queries_it_counts_for(causal: int) -> None:
    of = problem(67, causal)
    make = TOPIC.special_inputs
    assert make is not None
    inputs = dict(make(of, np.random.default_rng(1)))
    o = TOPIC.reference.reference(inputs, of)["O"]
    head = o[0, 1]
    (key,) = np.flatnonzero(np.isnan(inputs["K"][0, 1]).any(axis=1))
    assert np.isnan(head[key:] if causal else head).all()
    assert not causal or not np.isnan(head[:key]).all()
    assert np.array_equal(np.isnan(TOPIC.reference.magnitude(inputs, of)["O"]), np.isnan(o))


def rolled(inputs: dict[str, Array], of: Problem, name: str) -> Array:
    array = inputs[name].reshape(-1, *inputs[name].shape[2:])
    other = {**inputs, name: np.roll(array, -1, axis=0).reshape(inputs[name].shape)}
    found: Array = TOPIC.reference.reference(other, of)["O"]
    return found


def masked(inputs: dict[str, Array], of: Problem, keep: Callable[[Array, Array], Array]) -> Array:
    x, place = scores(inputs, {**of, "causal": 0}), np.arange(int(of["S"]))
    with np.errstate(invalid="ignore"):
        found: Array = softmax(np.where(keep(place[:, None], place), x, -np.inf)) @ inputs["V"].astype(
            np.float64
        )
    return found


def stored(inputs: dict[str, Array], of: Problem, axes: tuple[int, ...]) -> Array:
    """Right rows in another order."""
    found: Array = TOPIC.reference.reference(inputs, of)["O"]
    return found.transpose(axes).reshape(found.shape)


MISTAKES: dict[str, Callable[[dict[str, Array], Problem], Array]] = {
    "The mask is turned": lambda i, of: masked(i, of, lambda query, key: key >= query),
    "own key is masked": lambda i, of: np.nan_to_num(masked(i, of, lambda query, key: key < query)),
    "not if j = i + 1": lambda i, of: masked(i, of, lambda query, key: key <= query + 1),
    "Every key counts": lambda i, of: masked(i, of, lambda query, key: key >= 0),
    "not multiplied by scale": lambda i, of: softmax(scores(i, of, 1.0)) @ i["V"].astype(np.float64),
    "by scale twice": lambda i, of: softmax(scores(i, of, 0.125**2)) @ i["V"].astype(np.float64),
    "K is that of the next head": lambda i, of: rolled(i, of, "K"),
    "V is that of the next head": lambda i, of: rolled(i, of, "V"),
    "products with V is not": lambda i, of: in_tiles(i, of, outputs_scaled=False),
    "the sum of exponentials is not scaled": lambda i, of: in_tiles(i, of, sum_scaled=False),
    "Multiply both sums": lambda i, of: in_tiles(i, of, outputs_scaled=False, sum_scaled=False),
    "V of the tile before": lambda i, of: (
        softmax(scores(i, of)) @ i["V"].astype(np.float64)[:, :, np.arange(int(of["S"])) % 64]
    ),
    "multiplied by 1 / √D": lambda i, of: softmax(scores(i, of, 64**-0.5)) @ i["V"].astype(np.float64),
    "Rows of K are summed": lambda i, of: softmax(scores(i, of)) @ i["K"].astype(np.float64),
    "row of V before": lambda i, of: (
        softmax(scores(i, of)) @ i["V"].astype(np.float64)[:, :, np.maximum(np.arange(int(of["S"])) - 1, 0)]
    ),
    "taken to be B × S × H × D": lambda i, of: stored(i, of, (0, 2, 1, 3)),
    "taken to be H × B × S × D": lambda i, of: stored(i, of, (1, 0, 2, 3)),
    "over the queries of each key": lambda i, of: (
        softmax(scores(i, of).swapaxes(2, 3)).swapaxes(2, 3) @ i["V"].astype(np.float64)
    ),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_it_is_said_what_is_behind_a_wrong_output(text: str) -> None:
    of = problem(67, 0 if "over the queries" in text else 1, scale=0.3 if "√D" in text else 0.125)
    inputs = drawn(of, "real")
    wrong: Array = MISTAKES[text](inputs, of).astype(np.float16)
    assert text in (TOPIC.mistake(inputs, {"O": wrong}, of) or "")


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("kind", ["exact", "real"])
def test_of_a_right_output_and_of_zeros_nothing_is_said(kind: Literal["exact", "real"], causal: int) -> None:
    of = problem(67, causal)
    inputs = drawn(of, kind)
    o = in_tiles(inputs, of)
    assert TOPIC.mistake(inputs, {"O": o}, of) is None
    assert TOPIC.mistake(inputs, {"O": np.zeros_like(o)}, of) is None
