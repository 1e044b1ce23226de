"""What the gradients of `layernorm_backward` are, what its inputs promise, and what it says of wrong outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import pytest

from grader.workbook import topics

Array = np.ndarray[Any, np.dtype[Any]]
Inputs = dict[str, Array]
Seed = int | list[int]

TOPIC = topics.load("layernorm_backward")
REFERENCE = vars(TOPIC.reference)
EPS = REFERENCE["EPS"]
M, N = 67, 101
KINDS: tuple[Literal["exact", "real"], ...] = ("exact", "real")
STEP = 2.0**-12
"""Of the differences: their error is that of STEP², and of rounding over STEP."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def drawn(kind: Literal["exact", "real"], seed: Seed = 1, rows: int = M, columns: int = N) -> Inputs:
    rng = np.random.default_rng(seed)
    return dict(TOPIC.reference.make_inputs({"M": rows, "N": columns}, rng, kind))


def right(inputs: Inputs) -> Inputs:
    rows, columns = inputs["x"].shape
    return dict(TOPIC.reference.reference(inputs, {"M": rows, "N": columns}))


def said(inputs: Inputs, name: str, output: Array) -> str | None:
    """What the topic says of one output."""
    rows, columns = inputs["x"].shape
    typed = output.astype(np.float16 if name == "dx" else np.float32)
    return TOPIC.mistake(inputs, {name: typed}, {"M": rows, "N": columns})


# -------------------------------------------------------------------------------------------------- the gradients


def loss(x: Array, gamma: Array, beta: Array, dy: Array) -> float:
    """What dy is the gradient of: the forward layer norm, weighted."""
    mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    y = (x - mean) / np.sqrt(variance + EPS) * gamma + beta
    return float((y * dy).sum())


def differences(arrays: list[Array], which: int) -> Array:
    """The gradient of the loss, by central differences in double precision."""
    found = np.zeros(arrays[which].shape)
    for place in np.ndindex(found.shape):
        ends = []
        for step in (STEP, -STEP):
            moved = [array.copy() for array in arrays]
            moved[which][place] += step
            ends.append(loss(*moved))
        found[place] = (ends[0] - ends[1]) / (2.0 * STEP)
    return found


def test_gradients_are_those_of_the_forward_layer_norm() -> None:
    rng = np.random.default_rng(1)
    x, dy = 2.0 * rng.standard_normal((4, 7)) + 1.0, rng.standard_normal((4, 7)) + 0.5
    gamma, beta = 1.0 + 0.25 * rng.standard_normal(7), rng.standard_normal(7)
    inputs = {"x": x, "dy": dy, "gamma": gamma, "mean": x.mean(axis=1)}
    inputs["rstd"] = 1.0 / np.sqrt(x.var(axis=1) + EPS)
    found = right(inputs)
    arrays = [x, gamma, beta, dy]
    for name, which in (("dx", 0), ("dgamma", 1), ("dbeta", 2)):
        np.testing.assert_allclose(found[name], differences(arrays, which), rtol=0, atol=1e-5, err_msg=name)
    terms = REFERENCE["_terms"](inputs)
    without_second = terms.gradient(terms.mean_g, 0.0)
    assert np.abs(without_second - differences(arrays, 0)).max() > 1e-2


def test_single_elements_are_those_of_the_whole() -> None:
    inputs = drawn("real", rows=9, columns=13)
    places = np.array([0, 5, 12])
    for name, whole in right(inputs).items():
        gives, _ = REFERENCE["elements"](
            lambda key, at: inputs[key].ravel()[at].astype(np.float64), {"M": 9, "N": 13}, name, places
        )
        np.testing.assert_allclose(gives, whole.ravel()[places], rtol=1e-12, atol=1e-12)


# ------------------------------------------------------------------------------------------------------ inputs


@pytest.mark.parametrize("columns", [1, 2, 101, 1028, 4099, 16500])
def test_sums_of_exact_inputs_are_exact(columns: int) -> None:
    """In single precision, in whatever order they are added."""
    inputs = drawn("exact", rows=48, columns=columns)
    terms = REFERENCE["_terms"](inputs)
    for array in (terms.g, terms.g * terms.n):
        assert (array % 1.0 == 0.0).all()
        assert (np.abs(array).sum(axis=1) <= 2.0**24).all()
    for mean in (terms.mean_g, terms.mean_gn):
        assert (mean % 1.0 == 0.0).all()
        assert mean.all()
    for array in (terms.dy, terms.dy * terms.n):
        assert (4.0 * array % 1.0 == 0.0).all()
        assert (4.0 * np.abs(array).sum(axis=0) <= 2.0**24).all()
    assert set(np.unique(np.abs(terms.gamma))) <= {1.0, 2.0}


@pytest.mark.parametrize("columns", [1, 2, 101, 4099])
def test_exact_gradients_are_halves_and_floats_and_none_is_zero(columns: int) -> None:
    found = right(drawn("exact", rows=48, columns=columns))
    assert found["dx"].all()
    for name, dtype in (("dx", np.float16), ("dgamma", np.float32), ("dbeta", np.float32)):
        assert (found[name].astype(dtype).astype(np.float64) == found[name]).all(), name


# ----------------------------------------------------------------------------------------------- what is said

Rows = tuple[Array, Array, Array, Array, Array, Array]


def rows_of(inputs: Inputs) -> Rows:
    """n, g, rstd, both means, and gamma."""
    terms = REFERENCE["_terms"](inputs)
    return terms.n, terms.g, terms.rstd, terms.mean_g, terms.mean_gn, terms.gamma


def means(change: Callable[[Array, Array, Inputs], tuple[Array, Array]]) -> Callable[[Inputs], Array]:
    """A dx that is right but for its means."""

    def of(inputs: Inputs) -> Array:
        n, g, rstd, a, b, _ = rows_of(inputs)
        a, b = change(a, b, inputs)
        result: Array = rstd * (g - a - n * b)
        return result

    return of


def changed(**arrays: Callable[[Inputs], Array]) -> Callable[[Inputs], Array]:
    """The dx of other inputs than those that were given."""
    return lambda inputs: right({**inputs, **{name: new(inputs) for name, new in arrays.items()}})["dx"]


def factor(power: int) -> Callable[[Inputs], Array]:
    return lambda inputs: right(inputs)["dx"] * inputs["rstd"].astype(np.float64)[:, None] ** power


def gamma_after(inputs: Inputs) -> Array:
    after: Array = changed(gamma=lambda given: np.ones(N))(inputs) * inputs["gamma"]
    return after


def by_row(inputs: Inputs) -> Array:
    dy = inputs["dy"].astype(np.float64) * inputs["gamma"].astype(np.float64)[np.arange(M)[:, None]]
    return right({**inputs, "dy": dy, "gamma": np.ones(N)})["dx"]


def with_n(other: Callable[[Inputs], Array]) -> Callable[[Inputs], Array]:
    """A dx with something else in the place of n, in its second mean."""

    def of(inputs: Inputs) -> Array:
        _, g, rstd, a, _, _ = rows_of(inputs)
        n = other(inputs)
        result: Array = rstd * (g - a - n * (g * n).mean(axis=1, keepdims=True))
        return result

    return of


def centred(inputs: Inputs) -> Array:
    difference: Array = inputs["x"].astype(np.float64) - inputs["mean"].astype(np.float64)[:, None]
    return difference


def saved_by_column(inputs: Inputs) -> Array:
    x, g = inputs["x"].astype(np.float64), rows_of(inputs)[1]
    at = np.arange(N) % M
    rstd = inputs["rstd"].astype(np.float64)[at]
    n = (x - inputs["mean"].astype(np.float64)[at]) * rstd
    result: Array = rstd * (g - g.mean(axis=1, keepdims=True) - n * (g * n).mean(axis=1, keepdims=True))
    return result


def of_columns(a: Array, b: Array, inputs: Inputs) -> tuple[Array, Array]:
    n, g, *_ = rows_of(inputs)
    return g.mean(axis=0), (g * n).mean(axis=0)


def in_lane_0_alone(array: Array) -> Array:
    """What each element's lane has of the sums of a warp after shuffles down."""
    sums = np.stack([array[:, lane::32].sum(axis=1) for lane in range(32)], axis=1)
    for distance in (16, 8, 4, 2, 1):
        lane = np.arange(32) + distance
        sums = sums + sums[:, np.where(lane < 32, lane, np.arange(32))]
    return np.asarray(sums[:, np.arange(array.shape[1]) % 32])


def by_lanes(a: Array, b: Array, inputs: Inputs) -> tuple[Array, Array]:
    n, g, *_ = rows_of(inputs)
    return in_lane_0_alone(g) / N, in_lane_0_alone(g * n) / N


def in_half(a: Array, b: Array, inputs: Inputs) -> tuple[Array, Array]:
    n, g, *_ = rows_of(inputs)
    a, b = (
        np.add.accumulate(array.astype(np.float16), axis=1, dtype=np.float16)[:, -1:] for array in (g, g * n)
    )
    return a.astype(np.float64) / N, b.astype(np.float64) / N


def of_dy(a: Array, b: Array, inputs: Inputs) -> tuple[Array, Array]:
    """Means without gamma."""
    n, dy = rows_of(inputs)[0], inputs["dy"].astype(np.float64)
    return dy.mean(axis=1, keepdims=True), (dy * n).mean(axis=1, keepdims=True)


def anew(eps: float) -> dict[str, Callable[[Inputs], Array]]:
    """mean and rstd as the forward pass may have computed them."""
    return {
        "mean": lambda inputs: inputs["x"].mean(axis=1, dtype=np.float64),
        "rstd": lambda inputs: 1.0 / np.sqrt(inputs["x"].var(axis=1, dtype=np.float64) + eps),
    }


def rstd_by_thread(inputs: Inputs) -> Array:
    """Threads beyond the last row take row 0."""
    _, g, _, a, _, _ = rows_of(inputs)
    thread = np.arange(N)
    rstd = inputs["rstd"].astype(np.float64)[np.where(thread < M, thread, 0)]
    n = centred(inputs) * rstd
    result: Array = rstd * (g - a - n * (g * n).mean(axis=1, keepdims=True))
    return result


def n_of(change: Callable[[Array], Array], *names: str) -> Callable[[Inputs], Array]:
    """n with the mean, the rstd, or both, of other rows."""

    def of(inputs: Inputs) -> Array:
        other = {**inputs, **{name: change(inputs[name]) for name in names}}
        result: Array = REFERENCE["_terms"](other).n
        return result

    return of


def half(values: Array) -> Array:
    rounded: Array = values.astype(np.float16).astype(np.float64)
    return rounded


def rounded_mean(inputs: Inputs) -> Array:
    return inputs["mean"].astype(np.float16)


Sums = Callable[[Array, Array, Inputs], Array]

DX: dict[str, Callable[[Inputs], Array]] = {
    "_NO_MEANS": means(lambda a, b, inputs: (0.0 * a, 0.0 * b)),
    "_NO_FIRST": means(lambda a, b, inputs: (0.0 * a, b)),
    "_NO_SECOND": means(lambda a, b, inputs: (a, 0.0 * b)),
    "_SIGNS": means(lambda a, b, inputs: (a, -b)),
    "_NO_N": means(lambda a, b, inputs: (a + b, 0.0 * b)),
    "_FIRST_OF_DY": means(lambda a, b, inputs: (of_dy(a, b, inputs)[0], b)),
    "_SECOND_OF_DY": means(lambda a, b, inputs: (a, of_dy(a, b, inputs)[1])),
    "_MEANS_OF_DY": means(of_dy),
    "_NO_RSTD": factor(-1),
    "_RSTD_TWICE": factor(1),
    "_RSTD_DIVIDES": factor(-2),
    "_NO_GAMMA": changed(gamma=lambda inputs: np.ones(N)),
    "_GAMMA_AFTER": gamma_after,
    "_NOT_DIVIDED": means(lambda a, b, inputs: (N * a, N * b)),
    "_BIASED": means(lambda a, b, inputs: (a * N / (N - 1), b * N / (N - 1))),
    "_COLUMNS": means(of_columns),
    "_GAMMA_BY_ROW": by_row,
    "_CENTRED": with_n(centred),
    "_N_RSTD_TWICE": with_n(lambda inputs: rows_of(inputs)[0] * inputs["rstd"][:, None]),
    "_ANEW": changed(**anew(1e-5)),
    "_NOT_CENTRED": with_n(lambda inputs: inputs["x"].astype(np.float64)),
    "_SAVED_BY_COLUMN": saved_by_column,
    "_OTHER_ROW": changed(
        mean=lambda inputs: np.roll(inputs["mean"], 1), rstd=lambda inputs: np.roll(inputs["rstd"], 1)
    ),
    "_OTHER_SUMS": means(lambda a, b, inputs: (np.roll(a, 1, axis=0), np.roll(b, 1, axis=0))),
    "_LANES": means(by_lanes),
    "_ROUNDED": means(in_half),
}
"""Of exact inputs: a wrong dx, and the name of what is said of it."""


def in_rounded_bands(added: Array) -> Array:
    """Sums whose parts, of 16 rows each, are rounded to half precision."""
    parts = [added[first : first + 16].sum(axis=0).astype(np.float16) for first in range(0, M, 16)]
    sums: Array = np.asarray(parts, np.float64).sum(axis=0)
    return sums


ROW_SUMS: dict[str, tuple[str, Sums]] = {
    "_EXCHANGED": ("dgamma", lambda dy, n, inputs: dy.sum(axis=0)),
    "_AVERAGED": ("dgamma", lambda dy, n, inputs: (dy * n).mean(axis=0)),
    "_TWICE": ("dbeta", lambda dy, n, inputs: 2.0 * dy.sum(axis=0)),
    "_TURNED": ("dbeta", lambda dy, n, inputs: dy.reshape(N, M).sum(axis=1)),
    "_DGAMMA_OF_X": ("dgamma", lambda dy, n, inputs: (dy * inputs["x"]).sum(axis=0)),
    "_DGAMMA_NO_RSTD": ("dgamma", lambda dy, n, inputs: (dy * centred(inputs)).sum(axis=0)),
    "_DGAMMA_OF_G": ("dgamma", lambda dy, n, inputs: (dy * n).sum(axis=0) * inputs["gamma"]),
    "_N_RSTD_TWICE": ("dgamma", lambda dy, n, inputs: (dy * n * inputs["rstd"][:, None]).sum(axis=0)),
    "_DGAMMA_OF_N": ("dgamma", lambda dy, n, inputs: n.sum(axis=0)),
    "_DBETA_OF_G": ("dbeta", lambda dy, n, inputs: dy.sum(axis=0) * inputs["gamma"]),
    "_COLUMN_ROUNDED": ("dgamma", lambda dy, n, inputs: in_rounded_bands(dy * n)),
}
"""The same of dgamma and dbeta."""

OTHERS: dict[str, tuple[str, str, Callable[[Inputs], Array]]] = {
    "rstd of the thread": ("dx", "_OTHER_ROW", rstd_by_thread),
    "rstd anew": ("dx", "_ANEW", changed(rstd=anew(1e-6)["rstd"])),
    "both in dgamma": ("dgamma", "_OTHER_ROW", n_of(lambda array: array[:1].repeat(M), "mean", "rstd")),
    "mean in dgamma": ("dgamma", "_OTHER_ROW", n_of(lambda array: np.append(array[1:], array[-1]), "mean")),
    "rstd in dgamma": ("dgamma", "_OTHER_ROW", n_of(lambda array: array[np.arange(M) % 32], "rstd")),
    "anew in dgamma": (
        "dgamma",
        "_ANEW",
        lambda inputs: (
            REFERENCE["_terms"]({**inputs, **{name: of(inputs) for name, of in anew(1e-5).items()}}).n
        ),
    ),
}
"""Other ways to the same mistakes, of exact inputs: dx, or the n of dgamma."""

SOME_ROWS: dict[str, tuple[str, slice, float]] = {
    "dgamma holds the sum of rows 64 to 66 only, of 67.": ("dgamma", slice(64, 67), 0.0),
    "dbeta holds the sum of rows 0 to 63 only, of 67.": ("dbeta", slice(0, 64), 0.0),
    "dgamma leaves out rows 16 to 31 of 67.": ("dgamma", slice(16, 32), -1.0),
    "dbeta counts row 32 of 67 twice.": ("dbeta", slice(32, 33), 1.0),
    "dgamma holds the sum of one row in 8 only, from row 0 on:": ("dgamma", slice(0, None, 8), 0.0),
    "dgamma counts one row in 16 of 67 twice.": ("dgamma", slice(16, None, 16), 1.0),
    "dbeta leaves out one row in 16 of 67.": ("dbeta", slice(15, None, 16), -1.0),
}
"""What is said of sums of these rows, or of all rows with these left out or counted twice."""


@pytest.mark.parametrize("seed", [1, 2, [1, 0, M, N]])
@pytest.mark.parametrize("name", DX)
def test_a_mistake_is_told_by_its_dx(name: str, seed: Seed) -> None:
    inputs = drawn("exact", seed)
    assert said(inputs, "dx", DX[name](inputs)) == REFERENCE[name]


@pytest.mark.parametrize("columns", [8, 4])
def test_sums_with_terms_missing_are_told(columns: int) -> None:
    """In whole packs of 8 there is a tail of 5 elements, of 4 one element."""

    def whole(array: Array) -> Array:
        sums: Array = array[:, : N // columns * columns].sum(axis=1, keepdims=True) / N
        return sums

    inputs = drawn("exact")
    n, g, *_ = rows_of(inputs)
    for which, dx in (
        ("Both means are", means(lambda a, b, inputs: (whole(g), whole(g * n)))),
        ("The mean of g is", means(lambda a, b, inputs: (whole(g), b))),
        ("The mean of g * n is", means(lambda a, b, inputs: (a, whole(g * n)))),
    ):
        assert said(inputs, "dx", dx(inputs)) == REFERENCE["_SUMS"].format(which=which)


def test_a_mean_as_a_half_is_told_where_it_is_large() -> None:
    inputs = drawn("real")
    assert said(inputs, "dx", changed(mean=rounded_mean)(inputs)) == REFERENCE["_MEAN_ROUNDED"]


@pytest.mark.parametrize("name", OTHERS)
def test_mean_and_rstd_of_another_place_are_told(name: str) -> None:
    inputs = drawn("exact")
    output, text, of = OTHERS[name]
    found = of(inputs) if output == "dx" else (inputs["dy"].astype(np.float64) * of(inputs)).sum(axis=0)
    assert said(inputs, output, found) == REFERENCE[text]


@pytest.mark.parametrize("seed", range(3))
def test_products_and_differences_in_half_are_told(seed: int) -> None:
    inputs = drawn("real", seed)
    n, g, rstd, a, b, _ = rows_of(inputs)
    for inner in (half(g - a - n * b), half(half(half(g) - half(a)) - half(half(n) * half(b)))):
        assert said(inputs, "dx", inner * half(rstd)) == REFERENCE["_DX_ROUNDED"]


@pytest.mark.parametrize("name", ROW_SUMS)
def test_a_mistake_is_told_by_the_sums_of_columns(name: str) -> None:
    for kind in KINDS:
        inputs = drawn(kind)
        output, sums = ROW_SUMS[name]
        found = sums(inputs["dy"].astype(np.float64), rows_of(inputs)[0], inputs)
        assert said(inputs, output, found) == REFERENCE[name].format(name=output)


@pytest.mark.parametrize("text", SOME_ROWS)
def test_rows_that_are_missing_or_too_many_are_told(text: str) -> None:
    inputs = drawn("exact")
    name, rows, times = SOME_ROWS[text]
    dy = inputs["dy"].astype(np.float64)
    added = dy * rows_of(inputs)[0] if name == "dgamma" else dy
    sums = added[rows].sum(axis=0)
    answer = said(inputs, name, times * sums + right(inputs)[name] if times else sums)
    assert answer is not None
    assert answer.startswith(text)


def test_columns_for_rows_are_told() -> None:
    inputs = drawn("exact", columns=33)
    dy = inputs["dy"].astype(np.float64)
    assert said(inputs, "dbeta", dy[:33].sum(axis=1)) == REFERENCE["_OF_ROWS"]
    at = np.arange(33) % M
    n = (inputs["x"] - inputs["mean"][at].astype(np.float64)) * inputs["rstd"][at]
    assert said(inputs, "dgamma", (dy * n).sum(axis=0)) == REFERENCE["_DGAMMA_BY_COLUMN"]


def test_a_nan_stays_where_it_belongs() -> None:
    assert TOPIC.special_inputs is not None
    inputs: Inputs = dict(TOPIC.special_inputs({"M": M, "N": N}, np.random.default_rng(1)))
    answers = right(inputs)
    spoilt = np.isnan(answers["dx"]).all(axis=1)
    assert (
        spoilt.sum() == np.isnan(answers["dx"]).any(axis=1).sum() == M // 8 + 2
    )  # and the rows whose dy is 0, and infinite
    for name, inside, outside in (
        ("dx", "_SWALLOWED", "_NAN"),
        ("dgamma", "_COLUMN_SWALLOWED", "_COLUMN_SPREAD"),
    ):
        assert said(inputs, name, answers[name]) is None
        at = spoilt if name == "dx" else np.isnan(answers[name])
        for value, places, text in ((0.0, at, inside), (np.nan, ~at, outside)):
            output = answers[name].copy()
            output[np.flatnonzero(places)[0]] = value
            found = {"row": np.flatnonzero(places)[0], "column": np.flatnonzero(places)[0], "name": name}
            assert said(inputs, name, output) == REFERENCE[text].format(**found)


def test_an_infinity_makes_sums_infinite_that_compensate_for_rounding_to_nan() -> None:
    assert TOPIC.special_inputs is not None
    inputs: Inputs = dict(TOPIC.special_inputs({"M": M, "N": N}, np.random.default_rng(1)))
    terms, answers = REFERENCE["_terms"](inputs), right(inputs)
    for name, added in (("dgamma", terms.dy * terms.n), ("dbeta", terms.dy)):
        infinite = np.isinf(answers[name])
        assert infinite.any()
        total, lost = np.zeros(N), np.zeros(N)
        with np.errstate(invalid="ignore"):
            for row in added:
                more = row - lost
                total, lost = total + more, (total + more - total) - more
        column = np.flatnonzero(infinite)[0]
        assert said(inputs, name, total) == REFERENCE["_COLUMN_INFINITE"].format(column=column, name=name)


def test_a_sum_that_is_divided_by_gamma_is_told() -> None:
    inputs = drawn("real", columns=1024)
    terms = REFERENCE["_terms"](inputs)
    zero = np.flatnonzero(terms.gamma == 0)
    for name, factor in (("dgamma", terms.n), ("dbeta", 1.0)):
        with np.errstate(invalid="ignore"):
            output = (terms.g * factor).sum(axis=0) / terms.gamma
        assert said(inputs, name, output) == REFERENCE["_BY_GAMMA"].format(column=zero[0], name=name)


def test_every_text_is_reached() -> None:
    texts = {name for name, value in REFERENCE.items() if name.isupper() and isinstance(value, str)}
    others = {
        "_SUMS",
        "_MEAN_ROUNDED",
        "_DX_ROUNDED",
        "_KEPT",
        "_MISSING",
        "_AGAIN",
        "_EVERY",
        "_OF_ROWS",
        "_DGAMMA_BY_COLUMN",
    }
    nan = {"_SWALLOWED", "_NAN", "_COLUMN_SWALLOWED", "_COLUMN_SPREAD", "_COLUMN_INFINITE", "_BY_GAMMA"}
    assert texts - {"_DX"} == {*DX, *ROW_SUMS, *others, *nan}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_said_of_right_outputs(kind: Literal["exact", "real"]) -> None:
    for columns in (1, 3, 33, 101):
        inputs = drawn(kind, columns=columns)
        for name, output in right(inputs).items():
            assert said(inputs, name, output) is None


def test_nothing_is_said_where_nothing_is_certain() -> None:
    inputs = drawn("real")
    for name, output in right(inputs).items():
        assert (
            said(inputs, name, np.random.default_rng(1).permutation(output.ravel()).reshape(output.shape))
            is None
        )


# ------------------------------------------------------------------------------------------------------ the bound

Kernel = Callable[[Inputs], Array]


def errors(inputs: Inputs, dx: Array) -> Array:
    """Of a dx, as shares of its bound."""
    bound = 2.0**-11 * REFERENCE["magnitude"](inputs, {})["dx"]
    shares: Array = np.abs(dx.astype(np.float16).astype(np.float64) - right(inputs)["dx"]) / bound
    return shares


def single(inputs: Inputs) -> tuple[Array, Array, Array, Array, Array]:
    """x, g, mean, rstd and n as a kernel has them."""
    x, dy, gamma = (inputs[name].astype(np.float32) for name in ("x", "dy", "gamma"))
    mean, rstd = inputs["mean"][:, None], inputs["rstd"][:, None]
    return x, dy * gamma, mean, rstd, (x - mean) * rstd


def summed(array: Array) -> Array:
    """The mean of each row, added up by one thread in single precision."""
    mean: Array = np.add.accumulate(array, axis=1, dtype=np.float32)[:, -1:] / np.float32(array.shape[1])
    return mean


def in_order(inputs: Inputs) -> Array:
    _, g, _, rstd, n = single(inputs)
    dx: Array = (g - summed(g) - n * summed(g * n)) * rstd
    return dx


def one_multiply_add(inputs: Inputs) -> Array:
    x, g, mean, rstd, _ = single(inputs)
    n = x * rstd - mean * rstd
    dx: Array = (g - summed(g) - n * summed(g * n)) * rstd
    return dx


def affine(inputs: Inputs) -> Array:
    x, g, mean, rstd, n = single(inputs)
    a = -rstd * rstd * summed(g * n)
    dx: Array = rstd * g + a * x + (-rstd * summed(g) - a * mean)
    return dx


def products_in_half(inputs: Inputs) -> Array:
    _, _, _, rstd, n = single(inputs)
    g = (inputs["dy"] * inputs["gamma"]).astype(np.float32)
    dx: Array = (g - summed(g) - n * summed(g * n)) * rstd
    return dx


@pytest.mark.parametrize("kernel", [in_order, one_multiply_add, affine, products_in_half])
@pytest.mark.parametrize("columns", [2, 31, 101, 1028, 4099])
def test_honest_arithmetic_stays_within_the_bound(kernel: Kernel, columns: int) -> None:
    for seed in range(3):
        inputs = drawn("real", seed, rows=48, columns=columns)
        assert errors(inputs, kernel(inputs)).max() <= 1.0


def test_a_sum_that_cancels_does_not() -> None:
    """That of g · x, from which the mean is subtracted afterwards."""
    inputs = drawn("real", [1, 1, 70, 8192], 70, 8192)  # as the judge has them
    x, g, mean, rstd, n = single(inputs)
    mean_gn = (summed(g * x) - mean * summed(g)) * rstd
    shares = errors(inputs, (g - summed(g) - n * mean_gn) * rstd).max(axis=1)
    far = REFERENCE["_terms"](inputs).offset.mean(axis=1) > REFERENCE["LARGE_MEAN"]
    assert shares.max() > 1.0
    assert shares[~far].max() <= 1.0
