"""What the inputs of `layernorm` promise, what its bound lets pass, and what it says of wrong outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import pytest

from grader.workbook import topics

Array = np.ndarray[Any, np.dtype[Any]]
Inputs = dict[str, Array]

TOPIC = topics.load("layernorm")
REFERENCE = vars(TOPIC.reference)
EPS = 1e-5
PROBLEM = {"M": 67, "N": 101, "eps": EPS}


def drawn(kind: Literal["exact", "real"], seed: int = 1, **sizes: float) -> Inputs:
    rng = np.random.default_rng(seed)
    return dict(TOPIC.reference.make_inputs({**PROBLEM, **sizes}, rng, kind))


def said(inputs: Inputs, y: Array, eps: float = EPS) -> str | None:
    """What the topic says of an output."""
    rows, columns = inputs["x"].shape
    problem = {"M": rows, "N": columns, "eps": eps}
    return TOPIC.mistake(inputs, {"y": y.astype(np.float16)}, problem)


def errors(inputs: Inputs, y: Array, eps: float = EPS) -> Array:
    """Of an output, as shares of its bound."""
    rows, columns = inputs["x"].shape
    problem = {"M": rows, "N": columns, "eps": eps}
    right = TOPIC.reference.reference(inputs, problem)["y"]
    bound = 2.0**-11 * REFERENCE["magnitude"](inputs, problem)["y"]
    shares: Array = np.abs(y.astype(np.float16).astype(np.float64) - right) / bound
    return shares


def wide(inputs: Inputs, dtype: type = np.float64) -> tuple[Array, Array, Array]:
    return inputs["x"].astype(dtype), inputs["gamma"].astype(dtype), inputs["beta"].astype(dtype)


def moments(x: Array) -> tuple[Array, Array]:
    return x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)


def finished(inputs: Inputs, mean: Array, variance: Array, eps: float = EPS) -> Array:
    """The last step, with means and variances from elsewhere."""
    x, gamma, beta = wide(inputs)
    y: Array = (x - mean) / np.sqrt(variance + eps) * gamma + beta
    return y


def normal(inputs: Inputs) -> Array:
    x, *_ = wide(inputs)
    mean, variance = moments(x)
    result: Array = (x - mean) / np.sqrt(variance + EPS)
    return result


def of(statistics: Callable[[Array], tuple[Array, Array]]) -> Callable[[Inputs], Array]:
    """A kernel that finds means and variances so."""
    return lambda inputs: finished(inputs, *statistics(wide(inputs)[0]))


def in_one_pass(x: Array) -> tuple[Array, Array]:
    """The mean of the squares minus the square of the mean, in single precision."""
    x = x.astype(np.float32)
    mean = x.mean(axis=1, keepdims=True)
    return mean, np.maximum((x * x).mean(axis=1, keepdims=True) - mean * mean, np.float32(0))


def without_tail(x: Array) -> tuple[Array, Array]:
    whole = x[:, : x.shape[1] // 8 * 8]
    mean = whole.sum(axis=1, keepdims=True) / x.shape[1]
    return mean, ((whole - mean) ** 2).sum(axis=1, keepdims=True) / x.shape[1]


def with_zeros_behind(x: Array) -> tuple[Array, Array]:
    mean, variance = moments(x)
    return mean, variance + mean * mean * (-x.shape[1] % 32) / x.shape[1]


def merged_without_the_difference(x: Array) -> tuple[Array, Array]:
    squares = sum(part.var(axis=1, keepdims=True) * part.shape[1] for part in np.array_split(x, 4, axis=1))
    return x.mean(axis=1, keepdims=True), np.asarray(squares) / x.shape[1]


def means_averaged(x: Array) -> tuple[Array, Array]:
    means = [part.mean(axis=1, keepdims=True) for part in np.array_split(x, 4, axis=1)]
    return np.asarray(sum(means)) / 4, x.var(axis=1, keepdims=True)


def sums_of_halves(x: Array) -> tuple[Array, Array]:
    sums = np.add.accumulate(x.astype(np.float16), axis=1, dtype=np.float16)[:, -1:]
    mean = sums.astype(np.float64) / x.shape[1]
    return mean, ((x - mean) ** 2).mean(axis=1, keepdims=True)


def sums_of_lanes_in_half(x: Array) -> tuple[Array, Array]:
    lanes = np.pad(x, ((0, 0), (0, -x.shape[1] % 32))).reshape(len(x), -1, 32).astype(np.float16)
    sums = np.add.accumulate(lanes, axis=1, dtype=np.float16)[:, -1]
    mean = sums.astype(np.float64).sum(axis=1, keepdims=True) / x.shape[1]
    return mean, ((x - mean) ** 2).mean(axis=1, keepdims=True)


def squares_in_half(x: Array) -> tuple[Array, Array]:
    mean, variance = moments(x)
    return mean, (variance * x.shape[1]).astype(np.float16).astype(np.float64) / x.shape[1]


def in_lane_0_alone(x: Array) -> Array:
    """What each element's lane has of the sums of a warp after shuffles down."""
    sums = np.stack([x[:, lane::32].sum(axis=1) for lane in range(32)], axis=1)
    for distance in (16, 8, 4, 2, 1):
        from_lane = np.arange(32) + distance
        sums = sums + sums[:, np.where(from_lane < 32, from_lane, np.arange(32))]
    return np.asarray(sums[:, np.arange(x.shape[1]) % 32])


def by_lanes(x: Array) -> tuple[Array, Array]:
    mean = in_lane_0_alone(x) / x.shape[1]
    return mean, in_lane_0_alone((x - mean) ** 2) / x.shape[1]


def of_the_row_before(x: Array) -> tuple[Array, Array]:
    mean, variance = moments(x)
    return np.roll(mean, 1, axis=0), variance


def both_of_the_row_before(x: Array) -> tuple[Array, Array]:
    mean, variance = moments(x)
    return np.roll(mean, 1, axis=0), np.roll(variance, 1, axis=0)


def affine(step: Callable[[Array, Array, Array], Array]) -> Callable[[Inputs], Array]:
    """A kernel with another last step, of normal, gamma and beta."""
    return lambda inputs: step(normal(inputs), *wide(inputs)[1:])


def with_eps(root: Callable[[Array], Array]) -> Callable[[Inputs], Array]:
    """A kernel that divides by something else than sqrt(variance + eps)."""

    def kernel(inputs: Inputs) -> Array:
        x, gamma, beta = wide(inputs)
        mean, variance = moments(x)
        y: Array = (x - mean) / root(variance) * gamma + beta
        return y

    return kernel


def by_row(inputs: Inputs) -> Array:
    rows = np.arange(PROBLEM["M"], dtype=int)[:, None]
    _, gamma, beta = wide(inputs)
    y: Array = normal(inputs) * gamma[rows] + beta[rows]
    return y


def along_columns(inputs: Inputs) -> Array:
    x, gamma, beta = wide(inputs)
    y: Array = (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + EPS) * gamma + beta
    return y


def squares_of_the_elements(inputs: Inputs) -> Array:
    x, *_ = wide(inputs)
    return finished(inputs, x.mean(axis=1, keepdims=True), (x * x).mean(axis=1, keepdims=True))


def rms_norm(inputs: Inputs) -> Array:
    x, *_ = wide(inputs)
    return finished(inputs, np.zeros((len(x), 1)), (x * x).mean(axis=1, keepdims=True))


def not_centred(inputs: Inputs) -> Array:
    x, *_ = wide(inputs)
    return finished(inputs, np.zeros((len(x), 1)), x.var(axis=1, keepdims=True))


def rounded_mean(x: Array) -> tuple[Array, Array]:
    mean, variance = moments(x)
    return mean.astype(np.float16).astype(np.float64), variance


def transposed(inputs: Inputs) -> Array:
    x, gamma, beta = wide(inputs)
    read = x.reshape(x.shape[::-1]).T
    mean, variance = moments(read)
    y: Array = (read - mean) / np.sqrt(variance + EPS) * gamma + beta
    return y


def with_others(
    of_gamma: Callable[[Array], Array], of_beta: Callable[[Array], Array]
) -> Callable[[Inputs], Array]:
    """A kernel with gamma and beta in another order."""
    return affine(lambda n, gamma, beta: n * of_gamma(gamma) + of_beta(beta))


def by_threads(x: Array, threads: int) -> list[Array]:
    return [x[:, thread::threads] for thread in range(min(threads, x.shape[1]))]


def welford_with(
    change: Callable[[Array, Array], Array], threads: int
) -> Callable[[Array], tuple[Array, Array]]:
    """Each thread forms its part's squares of the distances from the means before and after an element, and parts are
    merged as they should be."""

    def statistics(x: Array) -> tuple[Array, Array]:
        mean, variance = moments(x)
        squares = variance[:, 0] * x.shape[1]
        for part in by_threads(x, threads):
            at = np.zeros(len(x))
            for turn in range(part.shape[1]):
                old = part[:, turn] - at
                at = at + old / (turn + 1)
                new = part[:, turn] - at
                squares = squares + change(old, new) - old * new
        return mean, squares[:, None] / x.shape[1]

    return statistics


def own_squares_alone(threads: int) -> Callable[[Array], tuple[Array, Array]]:
    def statistics(x: Array) -> tuple[Array, Array]:
        squares = sum(part.var(axis=1) * part.shape[1] for part in by_threads(x, threads))
        return x.mean(axis=1, keepdims=True), np.asarray(squares)[:, None] / x.shape[1]

    return statistics


def half_the_difference(x: Array, threads: int = 256) -> tuple[Array, Array]:
    triples = [
        (part.shape[1], part.mean(axis=1), part.var(axis=1) * part.shape[1])
        for part in by_threads(x, threads)
    ]
    triples += [(0, np.zeros(len(x)), np.zeros(len(x)))] * (threads - len(triples))
    while len(triples) > 1:
        half = len(triples) // 2
        pairs = list(zip(triples[:half], triples[half:], strict=True))
        triples = []
        for (na, ma, sa), (nb, mb, sb) in pairs:
            if na + nb:
                d = mb - ma
                triples.append((na + nb, ma + d * nb / (na + nb), sa + sb + d * d / 2))
            else:
                triples.append((na, ma, sa))
    ((_, mean, squares),) = triples
    return mean[:, None], squares[:, None] / x.shape[1]


def own_part(x: Array) -> tuple[Array, Array]:
    """Of a block with a thread for each element."""
    mean = x / x.shape[1]
    return mean, (x - mean) ** 2 / x.shape[1]


def in_thread_0_alone(x: Array) -> tuple[Array, Array]:
    mean = x.mean(axis=1, keepdims=True) * (np.arange(x.shape[1]) == 0)
    squares = ((x - mean) ** 2).sum(axis=1, keepdims=True) * (np.arange(x.shape[1]) == 0)
    return mean, squares / x.shape[1]


def around_the_mean_of_the_row_before(x: Array) -> tuple[Array, Array]:
    mean = np.roll(x.mean(axis=1, keepdims=True), 1, axis=0)
    return mean, ((x - mean) ** 2).mean(axis=1, keepdims=True)


def around_the_mean_of_the_first_row(x: Array) -> tuple[Array, Array]:
    mean = x.mean(axis=1, keepdims=True)[:1]
    return mean, ((x - mean) ** 2).mean(axis=1, keepdims=True)


FORMULAS: dict[str, Callable[[Inputs], Array]] = {
    "_NO_BETA": affine(lambda n, gamma, beta: n * gamma),
    "_NO_GAMMA": affine(lambda n, gamma, beta: n + beta),
    "_NO_AFFINE": affine(lambda n, gamma, beta: n),
    "_BETA_SCALED": affine(lambda n, gamma, beta: (n + beta) * gamma),
    "_NOT_CENTRED": not_centred,
    "_SQUARES": squares_of_the_elements,
    "_ROOT_MEAN_SQUARE": rms_norm,
    "_NO_EPS": with_eps(np.sqrt),
    "_EPS_OUTSIDE": with_eps(lambda variance: np.sqrt(variance) + EPS),
    "_OTHER_EPS": with_eps(lambda variance: np.sqrt(variance + 1e-6)),
    "_NOT_SCALED": with_eps(np.ones_like),
    "_EXCHANGED": affine(lambda n, gamma, beta: n * beta + gamma),
    "_TRANSPOSED": transposed,
    "_NO_ROOT": with_eps(lambda variance: variance + EPS),
    "_NOT_DIVIDED": with_eps(lambda variance: np.sqrt(101 * variance + EPS)),
    "_BIASED": with_eps(lambda variance: np.sqrt(variance * 101 / 100 + EPS)),
    "_COLUMNS": along_columns,
    "_BY_ROW": by_row,
    "_CANCELLED": of(in_one_pass),
    "_MEAN_ROUNDED": of(rounded_mean),
}
"""Of inputs as real cases have them: what is computed, and the name of what is said of it."""

SUMS: dict[str, Callable[[Inputs], Array]] = {
    "_OTHER_ROW": of(of_the_row_before),
    "_OTHER_STATISTICS": of(both_of_the_row_before),
    "_MEAN": of(means_averaged),
    "_SUMS": of(without_tail),
    "_VARIANCE_SMALL": of(merged_without_the_difference),
    "_VARIANCE_LARGE": of(with_zeros_behind),
    "_HALF_SUM": of(sums_of_halves),
    "_HALF_SQUARES": of(squares_in_half),
    "_LANES": of(by_lanes),
    "_THREAD_0": of(in_thread_0_alone),
    "_OWN_PART": of(own_part),
    "_GAMMA_INDEX": with_others(lambda gamma: np.roll(gamma, -1), lambda beta: beta),
    "_BETA_INDEX": with_others(lambda gamma: gamma, lambda beta: np.roll(beta, 3)),
    "_BOTH_INDICES": with_others(lambda gamma: gamma[::-1], lambda beta: beta[::-1]),
    "_NO_SQUARES": of(own_squares_alone(256)),
    "_NOTHING_BETWEEN": of(own_squares_alone(32)),
    "_HALF_BETWEEN": of(half_the_difference),
    "_ONE_DISTANCE": of(welford_with(lambda old, new: old * old, 256)),
}
"""The same of exact ones, which come first."""

MORE: list[tuple[str, Callable[[Inputs], Array]]] = [
    ("_OTHER_ROW", of(around_the_mean_of_the_row_before)),
    ("_OTHER_ROW", of(around_the_mean_of_the_first_row)),
    ("_ONE_DISTANCE", of(welford_with(lambda old, new: old * old, 1))),
    ("_ONE_DISTANCE", of(welford_with(lambda old, new: new * new, 32))),
    ("_HALF_BETWEEN", of(lambda x: half_the_difference(x, 32))),
    ("_NOT_SCALED", with_eps(lambda variance: np.full_like(variance, np.sqrt(1 + EPS)))),
    (
        "_GAMMA_INDEX",
        lambda inputs: (
            normal(inputs) * wide(inputs)[1][np.arange(PROBLEM["M"], dtype=int)[:, None]] + wide(inputs)[2]
        ),
    ),
    ("_BETA_INDEX", with_others(lambda gamma: gamma, lambda beta: beta[np.arange(len(beta)) % 8])),
]
"""Others that the same is said of."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("name", FORMULAS)
def test_a_mistake_is_told_by_its_output(name: str) -> None:
    for seed in range(5):
        inputs = drawn("real", seed)
        assert said(inputs, FORMULAS[name](inputs)) == REFERENCE[name]


@pytest.mark.parametrize("name", SUMS)
def test_a_wrong_sum_is_told_by_mean_and_variance(name: str) -> None:
    for seed in range(5):
        inputs = drawn("exact", seed)
        assert said(inputs, SUMS[name](inputs)) == REFERENCE[name]


@pytest.mark.parametrize(("name", "kernel"), MORE)
def test_other_ways_to_the_same_mistake(name: str, kernel: Callable[[Inputs], Array]) -> None:
    for seed in range(5):
        inputs = drawn("exact", seed)
        assert said(inputs, kernel(inputs)) == REFERENCE[name]


def test_every_text_is_reached() -> None:
    texts = {name for name, value in REFERENCE.items() if name.isupper() and isinstance(value, str)}
    assert texts == {*FORMULAS, *SUMS, "_SWALLOWED", "_NAN", "_DIVISOR", "_FACTOR"}


@pytest.mark.parametrize(
    ("text", "number", "known"),
    [
        ("_DIVISOR", 67, "67 (M)"),
        ("_DIVISOR", 256, "256 (a block's number of threads, or N rounded up)"),
        ("_FACTOR", 50.5, ""),
    ],
)
def test_what_the_sum_of_squares_is_divided_by_is_told(text: str, number: float, known: str) -> None:
    for seed in range(2):
        inputs = drawn("exact", seed)
        mean, variance = moments(wide(inputs)[0])
        answer = said(inputs, finished(inputs, mean, variance * 101 / number))
        assert answer == REFERENCE[text].format(number=known, factor=f"{101 / number:.3g}")


def test_a_constant_in_the_place_of_eps_is_told_where_eps_is_another() -> None:
    inputs = drawn("real", M=5, N=3)
    x, *_ = wide(inputs)
    y = finished(inputs, *moments(x), eps=EPS)
    assert said(inputs, y, eps=0.5) in (REFERENCE["_OTHER_EPS"], REFERENCE["_NO_EPS"])


def test_a_row_with_an_infinity_has_to_become_nan_as_a_whole() -> None:
    assert TOPIC.special_inputs is not None
    inputs: Inputs = dict(TOPIC.special_inputs(PROBLEM, np.random.default_rng(1)))
    x, gamma, beta = wide(inputs)
    mean, variance = moments(x)
    right = (x - mean) / np.sqrt(variance + EPS) * gamma + beta
    assert said(inputs, right) is None
    spoilt = ~np.isfinite(x).all(axis=1)
    assert 0 < spoilt.sum() == np.isnan(right).all(axis=1).sum() == len(x) // 8
    for value in (0.0, -np.inf):
        wrong = right.copy()
        wrong[spoilt, 0] = value
        assert said(inputs, wrong) == REFERENCE["_SWALLOWED"]


def test_a_nan_that_comes_of_nothing_is_told() -> None:
    inputs = drawn("real")
    x, *_ = wide(inputs)
    y = finished(inputs, *moments(x))
    row = np.argmin(np.abs(x).sum(axis=1))
    y[row] = np.nan
    assert said(inputs, y) == REFERENCE["_NAN"].format(row=row)


def test_rows_that_sums_in_half_round_are_told_besides_those_that_overflow() -> None:
    for seed in range(5):
        inputs = drawn("real", seed)
        answer = said(inputs, of(sums_of_lanes_in_half)(inputs))
        assert answer == f"{REFERENCE['_HALF_SUM']} In other rows: {REFERENCE['_MEAN_ROUNDED']}"


@pytest.mark.parametrize("kind", ["exact", "real"])
def test_nothing_is_said_of_right_outputs(kind: Literal["exact", "real"]) -> None:
    for columns in (1, 3, 33, 101):
        inputs = drawn(kind, N=columns)
        assert said(inputs, finished(inputs, *moments(wide(inputs)[0]))) is None


def test_nothing_is_said_where_nothing_is_certain() -> None:
    inputs = drawn("real")
    y = finished(inputs, *moments(wide(inputs)[0]))
    assert said(inputs, np.random.default_rng(1).permuted(y, axis=1)) is None
    three_times = normal(inputs).astype(np.float16) * inputs["gamma"] + inputs["beta"]
    assert errors(inputs, three_times).max() > 1.0
    assert said(inputs, three_times) is None


# ------------------------------------------------------------------------------------------------------ inputs


@pytest.mark.parametrize("columns", [1, 2, 101, 1028, 4099])
def test_sums_means_and_squares_of_exact_rows_are_exact(columns: int) -> None:
    """In single precision, in whatever order they are added."""
    x, gamma, beta = wide(drawn("exact", M=32, N=columns))
    mean, variance = moments(x)
    one = REFERENCE["SPIKE"]
    for squares in ((x - mean) ** 2, x * x):
        assert (np.abs(squares).sum(axis=1) <= 2**24 * one**2).all()
        assert (squares % one**2 == 0.0).all()
    assert (np.median(x, axis=1, keepdims=True) == mean).all() or columns < 3
    assert ((x - mean).sum(axis=1) == 0.0).all()
    if columns > 1:
        assert variance.all()  # each row has a pair
        assert (np.count_nonzero(x != mean, axis=1) <= 8).all()
    assert set(np.abs(gamma)) <= {4.0, 8.0}
    assert set(np.abs(beta)) <= {1.0, 2.0}


def test_an_exact_row_deviates_near_its_end_in_every_other_row() -> None:
    x, *_ = wide(drawn("exact"))
    assert (x[1::2, -9:] != np.median(x[1::2], axis=1, keepdims=True)).any(axis=1).all()


def test_real_rows_have_large_means_and_small_deviations_and_some_are_constant() -> None:
    x, gamma, _ = wide(drawn("real", M=1031, N=64))
    mean, deviation = x.mean(axis=1), x.std(axis=1)
    far = np.abs(mean) > 100.0 * deviation
    constant = deviation == 0.0
    small = (deviation < 2e-3) & ~constant
    for share, expected in ((far & ~constant, 1 / 8), (small, 1 / 8), (constant, 1 / 16)):
        assert 0.6 * expected < share.mean() < 1.5 * expected
    assert np.abs(mean).max() <= 4.1e4
    assert np.isfinite(x).all()
    assert gamma.all()


def test_long_rows_have_no_large_means() -> None:
    x, *_ = wide(drawn("real", M=16, N=REFERENCE["LONG"] + 1))
    deviation = x.std(axis=1)
    assert (np.abs(x.mean(axis=1)) <= 10.0 * deviation)[deviation > 0.0].all()


# ------------------------------------------------------------------------------------------------------ the bound


def in_order(x: Array) -> tuple[Array, Array]:
    """Each row summed up by one thread, in single precision."""
    x, n = x.astype(np.float32), np.float32(x.shape[1])
    mean = np.add.accumulate(x, axis=1)[:, -1:] / n
    return mean, np.add.accumulate((x - mean) ** 2, axis=1)[:, -1:] / n


def welford(x: Array) -> tuple[Array, Array]:
    """Each row by one thread that updates mean and squares with each element, in single precision."""
    x = x.astype(np.float32)
    mean: Array = np.zeros(len(x), np.float32)
    squares: Array = np.zeros(len(x), np.float32)
    for column in range(x.shape[1]):
        before = x[:, column] - mean
        mean = mean + before / np.float32(column + 1)
        squares = squares + before * (x[:, column] - mean)
    return mean[:, None], squares[:, None] / np.float32(x.shape[1])


def shifted(x: Array) -> tuple[Array, Array]:
    """In one pass, of the differences from the first element."""
    x = x.astype(np.float32)
    mean, variance = in_one_pass(x - x[:, :1])
    return x[:, :1] + mean, variance


@pytest.mark.parametrize("statistics", [in_order, welford, shifted])
@pytest.mark.parametrize("columns", [2, 101, 1028, 4099])
def test_single_precision_stays_within_the_bound(
    statistics: Callable[[Array], tuple[Array, Array]], columns: int
) -> None:
    inputs = drawn("real", M=48, N=columns)
    mean, variance = statistics(wide(inputs)[0])
    x, gamma, beta = wide(inputs, np.float32)
    result = (x - mean) * (np.float32(1) / np.sqrt(variance + np.float32(EPS))) * gamma + beta
    assert result.dtype == np.float32
    assert errors(inputs, result).max() <= 1.0


def test_differences_from_an_element_far_away_stay_within_the_bound_in_long_rows() -> None:
    """A warp adds them up, in single precision; their sum is far larger than that of the elements."""
    inputs = drawn("real", M=2, N=1 << 18)
    inputs["x"][:, 0] = inputs["x"].max(axis=1)
    x, *_ = wide(inputs, np.float32)
    lanes = (x - x[:, :1]).reshape(2, -1, 32)
    mean = np.add.accumulate(lanes, axis=1)[:, -1].sum(axis=1, keepdims=True) / np.float32(x.shape[1])
    assert errors(inputs, finished(inputs, x[:, :1] + mean, moments(wide(inputs)[0])[1])).max() <= 1.0


def test_a_last_step_in_half_precision_stays_within_the_bound() -> None:
    """A fused multiply-add rounds once, behind the rounding of its first factor."""
    inputs = drawn("real")
    _, gamma, beta = wide(inputs)
    assert errors(inputs, normal(inputs).astype(np.float16) * gamma + beta).max() <= 1.0


@pytest.mark.parametrize("columns", [101, 1028])
def test_a_variance_that_cancels_does_not(columns: int) -> None:
    for seed in range(5):
        inputs = drawn("real", seed, N=columns)
        shares = errors(inputs, of(in_one_pass)(inputs)).max(axis=1)
        x, *_ = wide(inputs)
        far = np.abs(x.mean(axis=1)) > 16.0 * x.std(axis=1)
        assert shares.max() > 1.0
        assert shares[~far].max() <= 1.0


def test_the_bound_is_in_units_of_half_precision() -> None:
    assert (TOPIC.tolerance.lambda_, TOPIC.tolerance.unit["y"]) == (1, "float16")
