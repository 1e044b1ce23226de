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


def of_half_warps(s: Array) -> Array:
    """Of shuffles that begin at 8."""
    half = np.arange(s.shape[1]) // 16 % 2
    found: Array = np.stack([(s * s * (half == which)).sum(axis=1) for which in half], axis=1) / s.shape[1]
    return found


def in_bf16(x: Array, residual: Array, gamma: Array) -> Array:
    s = added(x, residual)
    scale = bf16(1.0 / np.sqrt(square(s) + EPS)).astype(np.float64)
    found: Array = bf16(s * scale).astype(np.float64) * gamma
    return found


def of_other_scales(x: Array, residual: Array, gamma: Array) -> Array:
    s = added(x, residual)
    place = np.arange(s.size).reshape(s.shape)
    found: Array = s / np.sqrt(square(s)[place % len(s), 0] + EPS) * gamma
    return found


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
    "_ADDED_TWICE": lambda x, residual, gamma: norm(added(x, residual)) * gamma + residual,
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
    "_PART_OF_THREADS": with_square(of_half_warps),
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
    "_EPS_BEHIND": divided_by(lambda s: 1.0 / (1.0 / np.sqrt(square(s)) + EPS)),
    "_Y_ROUNDED": in_bf16,
    "_SUM_CUT": lambda x, residual, gamma: norm(cut(x + residual)) * gamma,
}
"""The same where small rows, or many, or numbers that are rounded, are needed."""

DIVISORS = {
    67: "67 (M)",
    100: "100 (N - 1)",
    104: "104 (N rounded up)",
    128: "128 (a block's number of threads, or N rounded up)",
    1024: "1024 (a block's number of threads, or N rounded up)",
}
"""In place of 101."""

OF_OTHERS: dict[str, tuple[str, Kernel]] = {
    "of the place, over M": (
        "_GAMMA_INDEX",
        with_gamma(lambda n, gamma: n * gamma[np.arange(n.size).reshape(n.shape) // len(n) % len(gamma)]),
    ),
    "of the thread of 32": (
        "_GAMMA_INDEX",
        with_gamma(lambda n, gamma: n * gamma[np.arange(n.shape[1]) % 32]),
    ),
    "the scale of the place": ("_OTHER_ROW", of_other_scales),
    "added first": ("_ADDED_TWICE", lambda x, residual, gamma: norm(x + 2.0 * residual) * gamma),
    "the last step missing": (
        "_PART_OF_THREADS",
        with_square(
            lambda s: np.stack([(s * s)[:, column % 2 :: 2].sum(axis=1) for column in range(101)], 1) / 101
        ),
    ),
    "own part of a warp": (
        "_OWN_PART",
        with_square(
            lambda s: np.stack([(s * s)[:, at % 32 :: 32].sum(axis=1) for at in range(101)], 1) / 101
        ),
    ),
    "one warp of four": (
        "_PART_OF_THREADS",
        with_square(
            lambda s: (
                np.stack([(s * s)[:, at // 32 * 32 :][:, :32].sum(axis=1) for at in range(101)], 1) / 101
            )
        ),
    ),
}
"""Other ways to the same mistakes."""

OF_SUM: dict[str, Callable[[Array, Array], Array]] = {
    "_NO_RESIDUAL": lambda x, residual: x,
    "_NO_X": lambda x, residual: residual,
    "_SUBTRACTED": lambda x, residual: x - residual,
    "_ADDED_TWICE": lambda x, residual: x + 2.0 * residual,
    "_SUM_REPLACED": lambda x, residual: norm(added(x, residual)),
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
    answer = said(inputs, "y", with_square(lambda s: square(s) * 2.0)(*wide(inputs)))
    assert answer == REFERENCE["_DIVISOR"].format(number="1 (N - 1)")


@pytest.mark.parametrize("number", DIVISORS)
def test_what_the_sum_is_divided_by_is_told(number: int) -> None:
    inputs = drawn("real" if number in (100, 104) else "exact")
    answer = said(inputs, "y", with_square(lambda s: square(s) * 101 / number)(*wide(inputs)))
    assert answer == REFERENCE["_DIVISOR"].format(number=DIVISORS[number])


@pytest.mark.parametrize("kind", ["exact", "real"])
@pytest.mark.parametrize("name", OF_OTHERS)
def test_other_ways_to_a_mistake_are_told(name: str, kind: Literal["exact", "real"]) -> None:
    inputs = drawn(kind)
    text, kernel = OF_OTHERS[name]
    assert said(inputs, "y", kernel(*wide(inputs))) == REFERENCE[text]


def test_of_one_row_the_gamma_of_a_thread_is_told() -> None:
    inputs = drawn("exact", M=1, N=1031)
    y = with_gamma(lambda n, gamma: n * gamma[np.arange(1031) % 256])(*wide(inputs))
    assert said(inputs, "y", y) == REFERENCE["_GAMMA_INDEX"]


def test_squares_are_missing_only_where_rows_say_so() -> None:
    """One factor in all rows comes of another divisor, or of squares that are all counted twice; of one row nobody
    knows."""
    for rows, factor, text, other in (
        (67, 2.0, "_FACTOR_MANY", ""),
        (1, 0.5, "_FACTOR", "_SQUARES_MISSING"),
        (1, 3.0, "_FACTOR", "_SQUARES_TWICE"),
    ):
        inputs = drawn("real", 3, M=rows)
        answer = said(inputs, "y", with_square(lambda s, by=factor: square(s) * by)(*wide(inputs)))  # type: ignore[misc]
        assert answer == REFERENCE[text].format(factor=f"{factor:.3g}", other=REFERENCE.get(other))


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
    others |= {"_GAMMA_FIRST", "_DIVISOR", "_FACTOR", "_FACTOR_MANY", "_SQUARES_MISSING", "_SQUARES_TWICE"}
    assert texts == {*OF_Y, *OF_REAL, *OF_SUM, *ROUNDED, *others}


def test_a_product_with_gamma_that_no_float_holds_is_told() -> None:
    assert TOPIC.special_inputs is not None
    inputs: Inputs = dict(TOPIC.special_inputs(PROBLEM, np.random.default_rng(1)))
    right = TOPIC.reference.reference(inputs, PROBLEM)
    total = np.where(np.isfinite(right["sum"]), right["sum"], 0.0)
    too_large = np.abs(total * inputs["gamma"].astype(np.float64)) > np.finfo(np.float32).max
    too_large &= np.isfinite(right["y"])
    assert too_large.any()
    assert said(inputs, "y", np.where(too_large, np.inf, right["y"])) == REFERENCE["_GAMMA_FIRST"]


def test_a_lost_nan_is_told_and_one_that_comes_of_nothing() -> None:
    assert TOPIC.special_inputs is not None
    inputs: Inputs = dict(TOPIC.special_inputs(PROBLEM, np.random.default_rng(1)))
    right = TOPIC.reference.reference(inputs, PROBLEM)
    assert said(inputs, "y", right["y"]) is None
    assert said(inputs, "sum", right["sum"]) is None
    of_rows = np.isnan(right["y"])[:, np.isfinite(inputs["gamma"].astype(np.float64))]
    assert 0 < of_rows.any(axis=1).sum() == len(of_rows) // 8
    spoilt = ~np.isfinite(right["sum"]).all(axis=1, keepdims=True)
    lost = np.where(spoilt & np.isnan(right["y"]), 0.0, right["y"])
    assert said(inputs, "y", lost) == REFERENCE["_SWALLOWED"]
    assert (
        said(inputs, "sum", np.where(np.isnan(right["sum"]), 0.0, right["sum"]))
        == REFERENCE["_SUM_SWALLOWED"]
    )
    inputs = drawn("real")
    y = with_gamma(np.multiply)(*wide(inputs))
    zeros = np.flatnonzero(~y.any(axis=1))
    y[zeros] = np.nan
    assert said(inputs, "y", y) == REFERENCE["_NAN"].format(row=zeros[0])


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
