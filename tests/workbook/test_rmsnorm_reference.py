"""What the inputs of `rmsnorm` promise, what its bound lets pass, and what it says of wrong outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import ml_dtypes
import numpy as np
import pytest

from grader.workbook import topics

Array = np.ndarray[Any, np.dtype[Any]]
Inputs = dict[str, Array]
Kernel = Callable[[Array, Array, Array], Array]  # y of x, residual and gamma

TOPIC = topics.load("rmsnorm")
REFERENCE = vars(TOPIC.reference)
EPS = 1e-5
PROBLEM = {"M": 67, "N": 101, "eps": EPS}


def drawn(kind: Literal["exact", "real"], seed: int = 1, **sizes: float) -> Inputs:
    rng = np.random.default_rng(seed)
    return dict(TOPIC.reference.make_inputs({**PROBLEM, **sizes}, rng, kind))


def problem_of(inputs: Inputs, eps: float = EPS) -> dict[str, float]:
    rows, columns = inputs["x"].shape
    return {"M": rows, "N": columns, "eps": eps}


def bf16(values: Array) -> Array:
    """As BF16 stores them."""
    rounded: Array = values.astype(np.float32).astype(ml_dtypes.bfloat16)
    return rounded


def wide(inputs: Inputs) -> tuple[Array, Array, Array]:
    return tuple(inputs[name].astype(np.float64) for name in ("x", "residual", "gamma"))  # type: ignore[return-value]


def said(inputs: Inputs, name: str, output: Array, eps: float = EPS) -> str | None:
    """What the topic says of an output."""
    return TOPIC.mistake(inputs, {name: bf16(output)}, problem_of(inputs, eps))


def errors(inputs: Inputs, name: str, output: Array) -> Array:
    """Of an output, as shares of its bound."""
    problem = problem_of(inputs)
    right = TOPIC.reference.reference(inputs, problem)[name]
    bound = 2.0**-8 * REFERENCE["magnitude"](inputs, problem)[name]
    shares: Array = np.abs(bf16(output).astype(np.float64) - right) / np.maximum(bound, 1e-300)
    return shares


def added(x: Array, residual: Array) -> Array:
    stored: Array = bf16(x + residual).astype(np.float64)
    return stored


def square(s: Array) -> Array:
    found: Array = (s * s).mean(axis=1, keepdims=True)
    return found


def norm(s: Array, eps: float = EPS) -> Array:
    found: Array = s / np.sqrt(square(s) + eps)
    return found


def divided_by(root: Callable[[Array], Array]) -> Kernel:
    """The sum over a mistaken root of its rows."""

    def y(x: Array, residual: Array, gamma: Array) -> Array:
        s = added(x, residual)
        found: Array = s / root(s) * gamma
        return found

    return y


def with_gamma(change: Callable[[Array, Array], Array]) -> Kernel:
    """The last step, of the norm and gamma."""
    return lambda x, residual, gamma: change(norm(added(x, residual)), gamma)


def with_square(change: Callable[[Array], Array]) -> Kernel:
    """A mistaken mean square, where eps is added."""
    return divided_by(lambda s: np.sqrt(change(s) + EPS))


def of_sum(change: Callable[[Array], Array]) -> Kernel:
    return lambda x, residual, gamma: change(added(x, residual)) * gamma


def cut(values: Array) -> Array:
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    found: Array = bits.view(np.float32).astype(np.float64)
    return found


def in_lanes(s: Array) -> Array:
    """What each lane has behind __shfl_down_sync: the row's sum in lane 0, and shares of it in the others."""
    share = np.where(np.arange(s.shape[1]) % 32 == 0, 1.0, 0.25)
    found: Array = square(s) * share
    return found


def own_part(s: Array) -> Array:
    found: Array = s * s / s.shape[1]  # a block with a thread for each element
    return found


def ones_stand_still(s: Array) -> Array:
    """A sum in BF16, one element at a time."""
    total: Array = np.zeros(len(s), ml_dtypes.bfloat16)
    for column in range(s.shape[1]):
        total = bf16(total.astype(np.float64) + s[:, column] ** 2)
    return total.astype(np.float64)[:, None] / s.shape[1]


OF_Y: dict[str, Kernel] = {
    "_STARTER": with_square(np.ones_like),
    "_NO_ROOT": divided_by(lambda s: square(s) + EPS),
    "_MULTIPLIED": divided_by(lambda s: 1.0 / np.sqrt(square(s) + EPS)),
    "_NOT_DIVIDED": with_square(lambda s: square(s) * s.shape[1]),
    "_VARIANCE": with_square(lambda s: s.var(axis=1, keepdims=True)),
    "_MEAN": with_square(lambda s: s.mean(axis=1, keepdims=True) ** 2),
    "_CENTRED": of_sum(lambda s: norm(s - s.mean(axis=1, keepdims=True))),
    "_COLUMNS": of_sum(lambda s: norm(s.T).T),
    "_X_ALONE": lambda x, residual, gamma: norm(x) * gamma,
    "_RESIDUAL_ALONE": lambda x, residual, gamma: norm(residual) * gamma,
    "_ADDED_AFTER": lambda x, residual, gamma: norm(x) * gamma + residual,
    "_SQUARES_OF_X": lambda x, residual, gamma: added(x, residual) / np.sqrt(square(x) + EPS) * gamma,
    "_X_DIVIDED": lambda x, residual, gamma: x / np.sqrt(square(added(x, residual)) + EPS) * gamma,
    "_SUBTRACTED": lambda x, residual, gamma: norm(added(x, -residual)) * gamma,
    "_NO_GAMMA": with_gamma(lambda n, gamma: n),
    "_ONE_MORE": with_gamma(lambda n, gamma: n * (1.0 + gamma)),
    "_DIVIDED_BY_GAMMA": with_gamma(lambda n, gamma: n / gamma),
    "_BY_ROW": with_gamma(lambda n, gamma: n * gamma[: len(n), None]),
    "_GAMMA_INDEX": with_gamma(lambda n, gamma: n * np.roll(gamma, -1)),
    "_OTHER_ROW": with_square(lambda s: square(s)[np.minimum(np.arange(len(s)) ^ 1, len(s) - 1)]),
    "_OWN_PART": with_square(own_part),
    "_LANES": with_square(in_lanes),
    "_THREAD_0": with_square(lambda s: square(s) * (np.arange(s.shape[1]) == 0)),
    "_TOO_SMALL": with_square(lambda s: (s[:, :64] ** 2).sum(axis=1, keepdims=True) / s.shape[1]),
    "_TOO_LARGE": with_square(lambda s: square(s) + 2.0 * s[:, -9:-8] ** 2),
    "_SUMS": with_square(lambda s: square(s) * np.where(np.arange(len(s)) % 2, 1.3, 0.8)[:, None]),
}
"""What is computed, and the name of what is said of it, of exact and of real inputs."""

OF_REAL: dict[str, Kernel] = {
    "_NO_EPS": divided_by(lambda s: np.sqrt(square(s))),
    "_EPS_OUTSIDE": divided_by(lambda s: np.sqrt(square(s)) + EPS),
    "_OTHER_EPS": divided_by(lambda s: np.sqrt(square(s) + 1e-6)),
    "_N_MINUS_1": with_square(lambda s: square(s) * 101 / 100),
    "_SUM_CUT": lambda x, residual, gamma: norm(cut(x + residual)) * gamma,
}
"""The same where small rows, or many, or numbers that are rounded, are needed."""

OF_SUM: dict[str, Callable[[Array, Array], Array]] = {
    "_NO_RESIDUAL": lambda x, residual: x,
    "_NO_X": lambda x, residual: residual,
    "_SUBTRACTED": lambda x, residual: x - residual,
    "_SUM_INDEX": lambda x, residual: x + residual[0],
}
"""Of sums, exact and real ones."""

ROUNDED: dict[str, Callable[[Array, Array], Array]] = {
    "_TWICE": lambda x, residual: (x + residual).astype(np.float16),
    "_CUT": lambda x, residual: cut(x + residual),
}
"""Of real ones."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("kind", ["exact", "real"])
@pytest.mark.parametrize("name", OF_Y)
def test_a_mistake_is_told_by_its_output(name: str, kind: Literal["exact", "real"]) -> None:
    inputs = drawn(kind)
    assert said(inputs, "y", OF_Y[name](*wide(inputs))) == REFERENCE[name]


@pytest.mark.parametrize("name", OF_REAL)
def test_a_small_mistake_is_told_by_many_elements(name: str) -> None:
    for seed in range(2):
        inputs = drawn("real", seed)
        assert said(inputs, "y", OF_REAL[name](*wide(inputs))) == REFERENCE[name]


def test_a_sum_of_squares_that_stands_still_is_told() -> None:
    inputs = drawn("exact")
    assert said(inputs, "y", with_square(ones_stand_still)(*wide(inputs))) == REFERENCE["_ROUNDED"]


def test_a_sum_of_squares_that_is_no_half_is_told() -> None:
    inputs = drawn("real")
    halves = with_square(lambda s: square(s * 2.0**-3).astype(np.float16).astype(np.float64) * 2.0**6)
    too_large = with_square(
        lambda s: (square(s) * s.shape[1]).astype(np.float16).astype(np.float64) / s.shape[1]
    )
    assert said(inputs, "y", too_large(*wide(inputs))) == REFERENCE["_HALF_SUM"]
    assert said(inputs, "y", halves(*wide(inputs))) != REFERENCE["_HALF_SUM"]


def test_in_rows_of_two_n_minus_1_is_1() -> None:
    inputs = drawn("exact", M=64, N=2)
    assert said(inputs, "y", with_square(lambda s: square(s) * 2.0)(*wide(inputs))) == REFERENCE["_N_MINUS_1"]


@pytest.mark.parametrize("name", [*OF_SUM, *ROUNDED])
def test_a_wrong_sum_is_told(name: str) -> None:
    kernel = {**OF_SUM, **ROUNDED}[name]
    for kind in ("exact", "real") if name in OF_SUM else ("real",):
        inputs = drawn(kind)
        x, residual, _ = wide(inputs)
        assert said(inputs, "sum", kernel(x, residual)) == REFERENCE[name]


def test_every_text_is_reached() -> None:
    texts = {name for name, value in REFERENCE.items() if name.isupper() and isinstance(value, str)}
    others = {"_Y", "_ROUNDED", "_HALF_SUM", "_SWALLOWED", "_SUM_SWALLOWED", "_NAN"}
    assert texts == {*OF_Y, *OF_REAL, *OF_SUM, *ROUNDED, *others}


def test_a_lost_nan_is_told_and_one_that_comes_of_nothing() -> None:
    assert TOPIC.special_inputs is not None
    inputs: Inputs = dict(TOPIC.special_inputs(PROBLEM, np.random.default_rng(1)))
    right = TOPIC.reference.reference(inputs, PROBLEM)
    assert said(inputs, "y", right["y"]) is None
    assert said(inputs, "sum", right["sum"]) is None
    assert 0 < (np.isnan(right["y"]).any(axis=1)).sum() == len(right["y"]) // 8
    assert said(inputs, "y", np.nan_to_num(right["y"])) == REFERENCE["_SWALLOWED"]
    assert (
        said(inputs, "sum", np.where(np.isnan(right["sum"]), 0.0, right["sum"]))
        == REFERENCE["_SUM_SWALLOWED"]
    )
    inputs = drawn("real")
    y = with_gamma(np.multiply)(*wide(inputs))
    y[~y.any(axis=1)] = np.nan
    assert said(inputs, "y", y) == REFERENCE["_NAN"]


@pytest.mark.parametrize("kind", ["exact", "real"])
def test_nothing_is_said_of_right_outputs(kind: Literal["exact", "real"]) -> None:
    for columns in (1, 3, 33, 101):
        inputs = drawn(kind, N=columns)
        for name, output in TOPIC.reference.reference(inputs, problem_of(inputs)).items():
            assert said(inputs, name, output) is None


def test_nothing_is_said_where_nothing_is_certain() -> None:
    inputs = drawn("real")
    y = with_gamma(np.multiply)(*wide(inputs))
    assert said(inputs, "y", np.random.default_rng(1).permuted(y, axis=1)) is None


# ------------------------------------------------------------------------------------------------------ inputs


@pytest.mark.parametrize("columns", [1, 2, 101, 16400])
def test_exact_rows_are_whole_and_their_sums_of_squares_floats(columns: int) -> None:
    inputs = drawn("exact", M=16, N=columns)
    x, residual, gamma = wide(inputs)
    s = x + residual
    assert (s == np.round(s)).all()
    assert (added(x, residual) == s).all()
    assert ((s * s).sum(axis=1) < 2**24).all()
    assert set(np.abs(gamma)) <= {1.0, 2.0, 4.0}
    spikes = np.abs(s) > 1.0
    assert spikes.any(axis=1).all()
    assert spikes[1::2, -9:].any(axis=1).all()


@pytest.mark.parametrize("columns", [2, 101, 8200, 32776])
def test_an_exact_row_shows_that_its_end_is_missing(columns: int) -> None:
    """Its last element, in the second row, and its last nine in every other one."""
    for rows in (1, 8):
        x, residual, gamma = wide(drawn("exact", M=rows, N=columns))
        s = added(x, residual)
        right = norm(s) * gamma
        for missing in (1, 9):
            squares = (s[:, :-missing] ** 2).sum(axis=1, keepdims=True) / columns
            y = bf16(s / np.sqrt(squares + EPS) * gamma)
            off = (np.abs(y - right) > 4.0 * 2.0**-8 * np.abs(right)).any(axis=1)
            assert off[min(1, rows - 1)]
            assert missing == 1 or off[1::2].all()


def test_real_rows_differ_in_size() -> None:
    x, residual, gamma = wide(drawn("real", M=1031, N=64))
    root = np.sqrt(square(x + residual))[:, 0]
    assert 0.6 / 8 < ((root > 0.0) & (root < 0.05)).mean() < 1.5 / 8
    assert 0.6 / 8 < (root > 100.0).mean() < 1.5 / 8
    assert 0.6 / 16 < (root == 0.0).mean() < 1.5 / 16
    assert gamma.all()


def test_single_elements_are_those_of_the_reference() -> None:
    inputs = drawn("real")
    right = TOPIC.reference.reference(inputs, PROBLEM)
    size = REFERENCE["magnitude"](inputs, PROBLEM)
    places = np.random.default_rng(1).permutation(right["y"].size)[:50]
    for name in ("y", "sum"):
        found, bound = REFERENCE["elements"](
            lambda given, at: inputs[given].astype(np.float64).ravel()[at], PROBLEM, name, places
        )
        np.testing.assert_array_equal(found, right[name].ravel()[places])
        np.testing.assert_array_equal(bound, size[name].ravel()[places])


# ------------------------------------------------------------------------------------------------------ the bound


@pytest.mark.parametrize("columns", [2, 101, 1028, 4099])
def test_honest_roundings_stay_within_the_bound(columns: int) -> None:
    """A thread a row in single precision; a norm that is rounded before gamma; and a sum that is not rounded."""
    inputs = drawn("real", M=24, N=columns)
    x, residual, gamma = wide(inputs)
    s = added(x, residual).astype(np.float32)
    squares = np.add.accumulate(s * s, axis=1)[:, -1:] / np.float32(columns)
    for y in (
        s / np.sqrt(squares + np.float32(EPS)) * gamma.astype(np.float32),
        bf16(norm(added(x, residual))).astype(np.float64) * gamma,
        (x + residual) / np.sqrt(square(x + residual) + EPS) * gamma,
    ):
        assert errors(inputs, "y", y).max() <= 1.0
    assert errors(inputs, "sum", x + residual).max() <= 1.0


def test_a_sum_that_is_cut_off_does_not() -> None:
    inputs = drawn("real")
    x, residual, _ = wide(inputs)
    assert errors(inputs, "sum", cut(x + residual)).max() > 1.5


def test_the_bound_is_in_units_of_bf16() -> None:
    assert (TOPIC.tolerance.lambda_, set(TOPIC.tolerance.unit.values())) == (1, {"bfloat16"})
