"""What `softmax` says of wrong outputs: the mistake where they show it, and nothing where they do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import pytest

from grader.workbook import topics

Array = np.ndarray[Any, np.dtype[np.float32]]

TOPIC = topics.load("softmax")
PROBLEM = {"M": 24, "N": 33}


def drawn(kind: Literal["exact", "real"], seed: int = 1, columns: int = 33) -> Array:
    problem = {**PROBLEM, "N": columns}
    inputs: Mapping[str, Any] = TOPIC.reference.make_inputs(problem, np.random.default_rng(seed), kind)
    return np.asarray(inputs["in"])


def said(logits: Array, out: Array) -> str | None:
    """What the topic says of an output."""
    problem = {"M": logits.shape[0], "N": logits.shape[1]}
    return TOPIC.mistake({"in": logits}, {"out": out.astype(np.float32)}, problem)


def of(terms: Array) -> Array:
    quotients: Array = terms / terms.sum(axis=1, keepdims=True)
    return quotients


def softmax(x: Array) -> Array:
    return of(np.exp(x - x.max(axis=1, keepdims=True)))


def with_zeros_behind(x: Array) -> Array:
    """The tail of a tile counts as zeros, in the sum alone."""
    terms = np.exp(x - x.max(axis=1, keepdims=True))
    behind = 3 * np.exp(-x.max(axis=1, keepdims=True))
    quotients: Array = terms / (terms.sum(axis=1, keepdims=True) + behind)
    return quotients


def never_rescaled(x: Array) -> Array:
    """Each term was formed with the largest element so far, and stays as it was."""
    so_far = np.maximum.accumulate(np.maximum(x, np.finfo(np.float32).min), axis=1)
    quotients: Array = np.exp(x - x.max(axis=1, keepdims=True)) / np.exp(x - so_far).sum(
        axis=1, keepdims=True
    )
    return quotients


def without_the_last(x: Array) -> Array:
    terms = np.exp(x - x.max(axis=1, keepdims=True))
    quotients: Array = terms / terms[:, :-1].sum(axis=1, keepdims=True)
    return quotients


def by_halves(x: Array) -> Array:
    """Two threads a row, whose maxima may both be -∞."""
    maxima = [half.max(axis=1, keepdims=True) for half in np.array_split(x, 2, axis=1)]
    terms = [np.exp(half - most) for half, most in zip(np.array_split(x, 2, axis=1), maxima, strict=True)]
    most = np.maximum(*maxima)
    sums = [part.sum(axis=1, keepdims=True) for part in terms]
    quotients: Array = np.exp(x - most) / sum(
        one * np.exp(own - most) for one, own in zip(sums, maxima, strict=True)
    )
    return quotients


MISTAKES: dict[str, tuple[Callable[[Array], Array], str]] = {
    "no maximum": (lambda x: of(np.exp(x)), "maximum of the row is not subtracted"),
    "from zero": (lambda x: of(np.exp(x - np.maximum(x.max(axis=1, keepdims=True), 0))), "taken to be 0"),
    "wrong sign": (lambda x: of(np.exp(x.max(axis=1, keepdims=True) - x)), "wrong sign"),
    "not divided": (lambda x: np.exp(x - x.max(axis=1, keepdims=True)), "divided by the sum of all"),
    "columns": (lambda x: softmax(x.T).T, "along columns"),
    "masked as a whole": (lambda x: np.nan_to_num(softmax(x)), "masked as a whole"),
    "of itself": (lambda x: of(np.exp(x - x)), "same: what is subtracted"),
    "masked half": (by_halves, "with masked elements"),
}
"""Of inputs as the cases have them: what is computed, and words that say what is wrong with it."""

SUMS: dict[str, tuple[Callable[[Array], Array], str]] = {
    "zeros behind the row": (with_zeros_behind, "too small by one and the same factor"),
    "never rescaled": (never_rescaled, "too small by one and the same factor"),
    "last term missing": (without_the_last, "too large by one and the same factor"),
}
"""The same of numbers near 0, whose exponentials are all of a size."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_by_its_output(name: str, seed: int) -> None:
    compute, words = MISTAKES[name]
    logits = drawn("real", seed)
    logits[5, :17], logits[5, 17:] = -np.inf, 1.0  # there is a row of which half is masked
    assert words in str(said(logits, compute(logits)))


@pytest.mark.parametrize("name", SUMS)
def test_a_wrong_sum_is_told_by_a_common_factor(name: str) -> None:
    compute, words = SUMS[name]
    logits = np.random.default_rng(1).standard_normal((24, 33), np.float32)
    assert words in str(said(logits, compute(logits)))


def test_zeros_behind_rows_of_negative_numbers_make_rows_of_zeros() -> None:
    logits = np.random.default_rng(1).standard_normal((24, 33), np.float32) - 500
    assert "comes out as zeros" in str(said(logits, with_zeros_behind(logits)))


def test_a_missing_maximum_is_told_where_reciprocals_of_sums_are_infinite() -> None:
    logits = drawn("real")
    logits[0] = -95.0  # its exponentials are subnormal numbers
    terms = np.exp(logits)
    out = terms * (np.float32(1) / terms.sum(axis=1, keepdims=True))
    assert np.isinf(out[0]).all()
    assert "maximum of the row is not subtracted" in str(said(logits, out))


def test_sums_that_differ_from_thread_to_thread_are_told() -> None:
    """A warp a row, whose lanes shuffle down, and all of whose lanes use what they have then."""
    logits = drawn("exact", columns=132)
    terms = np.exp(logits - logits.max(axis=1, keepdims=True))
    sums = np.stack([terms[:, lane::32].sum(axis=1) for lane in range(32)], axis=1)
    for distance in (16, 8, 4, 2, 1):
        from_lane = np.arange(32) + distance
        sums = sums + sums[:, np.where(from_lane < 32, from_lane, np.arange(32))]
    assert "__shfl_xor_sync leaves it in every lane" in str(
        said(logits, terms / sums[:, np.arange(132) % 32])
    )


def test_a_nan_that_is_lost_is_told() -> None:
    assert TOPIC.special_inputs is not None
    inputs: Mapping[str, Any] = TOPIC.special_inputs(PROBLEM, np.random.default_rng(1))
    logits = np.asarray(inputs["in"])
    assert "makes the whole row NaN" in str(said(logits, softmax(np.nan_to_num(logits, nan=-np.inf))))


@pytest.mark.parametrize("kind", ["exact", "real"])
def test_nothing_is_said_of_right_outputs(kind: Literal["exact", "real"]) -> None:
    for seed in range(5):
        logits = drawn(kind, seed)
        assert said(logits, softmax(logits)) is None


def test_nothing_is_said_where_nothing_is_certain() -> None:
    logits = drawn("real")
    shuffled = np.random.default_rng(1).permuted(softmax(logits), axis=1)
    assert said(logits, shuffled) is None
    # A single negative number: NaN whether its maximum is missing or taken to be 0.
    assert "∞ / ∞ or 0 / 0" in str(
        said(np.full((1, 1), -600, np.float32), np.full((1, 1), np.nan, np.float32))
    )


def test_the_factor_of_the_tolerance_is_that_of_the_magnitudes() -> None:
    assert TOPIC.tolerance.lambda_ == vars(TOPIC.reference)["LAMBDA"]
