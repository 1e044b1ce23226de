"""The gradients of a layer norm of rows: inputs, the answers, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grader.workbook import special
from grader.workbook.misplaced import other_indices, other_rows

Array = NDArray[np.float16] | NDArray[np.float32] | NDArray[np.float64]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]
Problem = Mapping[str, float]

EPS = 1e-2
"""What the forward pass that "real" inputs come from has added to the variance. With a smaller one, rstd would be so
large in rows that hardly vary that an element of another row, beside it, has a gradient beyond a half: timed passes
draw elements one by one."""

FAR = 2.0**-8
"""The standard deviation of a row as a share of its mean, where that is large: halves have 11 bits."""

SPIKES = 64
"""Pairs of elements of an exact row that differ from all others, at most."""

CLEAR = 0.25
"""Of (x - mean) · rstd: so much is on the same side of 0, however it is rounded."""

LONG = 1 << 14
"""In exact rows of more columns, all other elements are as small as can be, so that one element that is left out of a
sum shows in all of them."""

HALF, SINGLE = 2.0**-11, 2.0**-24
"""Units of rounding of half and of single precision."""

TINY = 2.0**-25
"""Half the distance of subnormal halves: what rounding one may change at most."""


def make_inputs(
    problem: Problem, rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """x and dy (M × N) and gamma (N), float16; mean and rstd (M), float32.

    "exact": with n = (x - mean) · rstd and g = dy · gamma, the means of g and of g · n over a row are small whole
    numbers. So are nearly all g and n; pairs of g lie 512 or more above and below, pairs of n up to 16. gamma is ±1 or
    ±2, and rstd 1 or 2. All sums are exact, and no element of dx is 0. mean and rstd are not those of x.
    "real": x as a layer norm may be given it: normally distributed rows, of which some have a mean 256 times their
    standard deviation, some deviate by 1/100, and some are constant. mean and rstd are those of x. dy is normally
    distributed, with a mean in each row. One in 64 of gamma is 0.
    """
    m, n = int(problem["M"]), int(problem["N"])
    if kind == "exact":
        x, dy, gamma, mean, rstd = _spikes(m, n, rng)
    else:
        gamma = 1.0 + 0.25 * rng.standard_normal(n)
        gamma[rng.integers(0, 8, n) == 0] *= -1.0
        x = _normal((m, n), rng).astype(np.float16)
        dy = rng.standard_normal((m, n)) + rng.standard_normal((m, 1))
        mean = x.mean(axis=1, dtype=np.float64)
        rstd = 1.0 / np.sqrt(x.var(axis=1, dtype=np.float64) + EPS)
        gamma[rng.integers(0, 64, n) == 0] = 0.0
    halves = {name: array.astype(np.float16) for name, array in (("x", x), ("dy", dy), ("gamma", gamma))}
    return {**halves, "mean": mean.astype(np.float32), "rstd": rstd.astype(np.float32)}


def special_inputs(problem: Problem, rng: np.random.Generator) -> dict[str, Array]:
    """As "real", with a NaN in x or dy in one row in eight. It makes NaN of the row of dx, of an element of dgamma and,
    if it is one of dy, of one of dbeta. So does one of x in a row whose dy is 0. Rows of dy go from 1e-2 to 1e2, and
    gamma from 1/8 to 8, where it is not 0: their products are halves of full precision, as which the bound lets them be
    formed. Where N leaves a remainder of 3 by 4, gamma has a NaN, and dx is NaN as a whole. One row of dy has two
    infinities, which make NaN of its dx, since those of g have opposite signs, and infinities of their elements of
    dbeta and of dgamma: n is not about 0 there."""
    inputs = make_inputs(problem, rng, "real")
    rows, columns = inputs["x"].shape
    by = {"dy": 10.0 ** rng.uniform(-2, 2, (rows, 1)), "gamma": np.exp2(rng.uniform(-3, 3, columns))}
    for name, factors in by.items():
        inputs[name] = (inputs[name] * factors).astype(np.float16)
    order = rng.permutation(rows)
    for row in order[: max(1, rows // 8)]:
        inputs[rng.choice(["x", "dy"])][row, rng.integers(columns)] = np.nan
    if rows > 1:
        inputs["dy"][order[-1]] = 0.0
        inputs["x"][order[-1], rng.integers(columns)] = np.nan
    n = (inputs["x"].astype(np.float32) - inputs["mean"][:, None]) * inputs["rstd"][:, None]
    clear = np.abs(n) > CLEAR
    of_dy = inputs["dy"].any(axis=1) & np.isfinite(inputs["dy"]).all(axis=1)
    enough = np.flatnonzero(of_dy & (np.count_nonzero(clear, axis=1) > 1))
    if len(enough):
        row = rng.choice(enough)
        places = rng.choice(np.flatnonzero(clear[row]), 2, replace=False)
        signs = np.where(inputs["gamma"][places] < 0, -1.0, 1.0)
        inputs["dy"][row, places] = np.array([np.inf, -np.inf]) * signs
    if columns % 4 == 3:
        inputs["gamma"][rng.integers(columns)] = np.nan
    return inputs


def reference(inputs: Mapping[str, Array], problem: Problem) -> dict[str, Exact]:
    """dx (M × N), dgamma and dbeta (N), float64."""
    terms = _terms(inputs)
    return {name: of(terms) for name, of in _OUTPUTS.items()}


def magnitude(inputs: Mapping[str, Array], problem: Problem) -> dict[str, Exact]:
    """What rounding errors are proportional to, in the outputs' shapes, float64.

    Of dgamma and dbeta the sum of what is added up, and of what n is rounded before that, where it is formed as
    x · rstd - mean · rstd. Of dx see _magnitude.
    """
    terms = _terms(inputs)
    return {name: of(terms) for name, of in _MAGNITUDES.items()}


def shapes(problem: Problem) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    m, n = int(problem["M"]), int(problem["N"])
    matrices = dict.fromkeys(("x", "dy", "dx"), (m, n))
    return {**matrices, **dict.fromkeys(("gamma", "dgamma", "dbeta"), (n,)), "mean": (m,), "rstd": (m,)}


def elements(read: Read, problem: Problem, name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of an output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    m, n = int(problem["M"]), int(problem["N"])
    if name == "dx":
        rows, which = np.unique(places // n, return_inverse=True)
        columns = np.arange(n)
    else:
        rows, columns, which = np.arange(m), places, np.arange(len(places))
    matrices = {key: read(key, rows[:, None] * n + columns) for key in ("x", "dy")}
    vectors = {"gamma": read("gamma", columns), "mean": read("mean", rows), "rstd": read("rstd", rows)}
    terms = _terms({**matrices, **vectors})
    at = (which, places % n) if name == "dx" else which
    return _OUTPUTS[name](terms)[at], _MAGNITUDES[name](terms)[at]


def min_flop(problem: Problem) -> int:
    """An element takes a difference and a product for n, one for g and one for g · n, three for dy · n and what it
    adds to dgamma and dbeta, two additions for the means, and two products and two differences for dx."""
    return 13 * int(problem["M"]) * int(problem["N"])


def min_bytes(problem: Problem) -> int:
    """Every element of x and dy read once and of dx written once, 2 bytes each; gamma, mean and rstd read once, dgamma
    and dbeta written once."""
    m, n = int(problem["M"]), int(problem["N"])
    return 6 * m * n + 2 * n + 8 * m + 8 * n


def written_bytes(problem: Problem) -> int:
    """Of dx, dgamma and dbeta."""
    m, n = int(problem["M"]), int(problem["N"])
    return 2 * m * n + 8 * n


def mistake(inputs: Mapping[str, Array], outputs: Mapping[str, Array], problem: Problem) -> str | None:
    """What is behind a wrong output: the one formula that gives all of it, or what its wrong rows have in common."""
    with np.errstate(all="ignore"):
        terms = _terms(inputs)
        for name, output in outputs.items():
            out = output.astype(np.float64)
            text = _of_dx(terms, out) if name == "dx" else _of_column_sums(terms, out, name)
            if text is not None:
                return text
    return None


def _of_dx(terms: _Terms, out: Exact) -> str | None:
    """What is said of a wrong dx."""
    right = terms.gradient(terms.mean_g, terms.mean_gn)
    spoilt = np.isnan(right).all(axis=1)
    near = (np.abs(out - right) <= HALF * _magnitude(terms)).all(axis=1)
    wrong = np.logical_not(np.where(spoilt, np.isnan(out).all(axis=1), near))
    if not wrong.any():
        return None
    little = _gives(right, out)
    if not spoilt.any() and _rounded_twice(terms, right, out):
        return _DX_ROUNDED
    if not little:
        found = {text for text, gives in _formulas(terms) if _gives(gives, out)}
        found |= _with_other_statistics(terms, out)
        if found:
            return found.pop() if len(found) == 1 else None
    if wrong[spoilt].any():
        return None if wrong[~spoilt].any() else _SWALLOWED
    if np.isnan(out[wrong]).any():
        return _NAN.format(row=np.flatnonzero(wrong & np.isnan(out).any(axis=1))[0])
    wrong &= np.isfinite(out).all(axis=1)
    if not wrong.any() or terms.n.shape[1] < ENOUGH:
        return None
    if not little and _of_another_row(terms, out, wrong):
        return _OTHER_ROW
    return _of_sums(terms, out, wrong, little)


def _formulas(terms: _Terms) -> Iterator[tuple[str, Exact]]:
    """Mistaken formulas of dx with what they give."""
    rows, columns = terms.n.shape
    n, g, r, dy, a, b = terms.n, terms.g, terms.rstd, terms.dy, terms.mean_g, terms.mean_gn
    right = terms.gradient(a, b)

    yield _NO_MEANS, r * g
    yield _NO_FIRST, terms.gradient(0.0, b)
    yield _NO_SECOND, terms.gradient(a, 0.0)
    for first, second in ((1, -1), (-1, 1), (-1, -1)):
        yield _SIGNS, terms.gradient(first * a, second * b)
    yield _NO_N, terms.gradient(a + b, 0.0)
    yield _NO_N, r * (g - n * a - b)
    of_dy, of_dyn = (array.mean(axis=1, keepdims=True) for array in (dy, dy * n))
    yield _FIRST_OF_DY, terms.gradient(of_dy, b)
    yield _SECOND_OF_DY, terms.gradient(a, of_dyn)
    yield _MEANS_OF_DY, terms.gradient(of_dy, of_dyn)
    yield _NO_RSTD, right / r
    yield _RSTD_TWICE, right * r
    yield _RSTD_DIVIDES, right / r / r
    yield _NO_GAMMA, _whole(dy, n, r)
    yield _GAMMA_AFTER, terms.gamma * _whole(dy, n, r)
    yield _GAMMA_BY_ROW, _whole(dy * terms.gamma[np.arange(rows)[:, None] % columns], n, r)
    for first, second in ((columns, columns), (1, columns), (columns, 1)):
        yield _NOT_DIVIDED, terms.gradient(a * first, b * second)
    yield _BIASED, terms.gradient(a * columns / (columns - 1), b * columns / (columns - 1))
    yield _COLUMNS, terms.gradient(g.mean(axis=0), (g * n).mean(axis=0))
    for text, other in (
        (_CENTRED, n / r),
        (_N_RSTD_TWICE, n * r),
        (_NOT_CENTRED, terms.x),
        (_NOT_CENTRED, terms.x * r),
    ):
        for factor, added in ((other, other), (other, n), (n, other)):
            yield text, r * (g - a - factor * (g * added).mean(axis=1, keepdims=True))
    by_column = np.arange(columns) % rows
    mean, rstd = terms.mean[by_column, 0], r[by_column, 0]
    yield _SAVED_BY_COLUMN, _whole(g, (terms.x - mean) * rstd, rstd)


def _whole(g: Exact, n: Exact, rstd: Exact) -> Exact:
    """dx of a g, an n and an rstd, with the means that they have."""
    dx: Exact = rstd * (g - g.mean(axis=1, keepdims=True) - n * (g * n).mean(axis=1, keepdims=True))
    return dx


def _with_other_statistics(terms: _Terms, out: Exact) -> set[str]:
    """What is said of a dx where mean or rstd is another one. Of nearly all that are tried, four rows say enough."""
    x, g = terms.x, terms.g
    return {
        text
        for text, mean, rstd in _other_statistics(terms)
        if all(
            _gives(_whole(g[rows], (x[rows] - mean[rows]) * rstd[rows], rstd[rows]), out[rows])
            for rows in (slice(4), slice(None))
        )
    }


def _other_statistics(terms: _Terms) -> Iterator[tuple[str, Exact, Exact]]:
    """Each mistaken mean and rstd: computed anew, and of other rows. A mean of 0 or an rstd of 1 is none: others say
    that. A new mean alone is no different from no second mean, in exact rows."""
    x, mean, rstd = terms.x, terms.mean, terms.rstd
    rows, columns = x.shape
    if columns < ENOUGH:
        return
    new = x.mean(axis=1, keepdims=True)
    for eps in (0.0, *OTHER_EPS):
        around_new, around_old = (((x - of) ** 2).mean(axis=1, keepdims=True) + eps for of in (new, mean))
        yield _ANEW, new, 1.0 / np.sqrt(around_new)
        yield _ANEW, mean, 1.0 / np.sqrt(around_new)
        yield _ANEW, mean, 1.0 / np.sqrt(around_old)
    if x.size > FEW or rows == 1:
        return
    for other in chain((row[:, None] for row in other_rows(rows)), other_indices(rows, columns, rows)):
        of_mean, of_rstd = mean[other, 0], rstd[other, 0]
        text = _SAVED_BY_COLUMN if (other == np.arange(columns) % rows).all() else _OTHER_ROW
        zero, one = not of_mean.any(), (of_rstd == 1.0).all()
        if not (zero and one):
            yield text, of_mean, of_rstd
        if not zero:
            yield text, of_mean, rstd
        if not one:
            yield text, mean, of_rstd


def _rounded_twice(terms: _Terms, right: Exact, out: Exact) -> bool:
    """Whether nearly all of dx is to the bit what comes of rounding more than once, and not of once: sums of floats
    may be added up in any order."""
    n, g, r, a, b = terms.n, terms.g, terms.rstd, terms.mean_g, terms.mean_gn
    in_half = _half(_half(_half(g) - _half(a)) - _half(_half(n) * _half(b)))
    once = _half(right) == out
    for inner, rstd in ((g - a - n * b, r), (_half(_half(g) - _half(a)) - _half(n * b), r), (in_half, r)):
        for factor in (rstd, _half(rstd)):
            same = _half(_half(inner) * factor) == out
            if same.mean() > 1.0 - FLIPPED and same.mean() > once.mean() + 2.0 * FLIPPED:
                return True
    return False


def _half(values: Exact) -> Exact:
    return values.astype(np.float16).astype(np.float64)


def _of_another_row(terms: _Terms, out: Exact, wrong: NDArray[np.bool_]) -> bool:
    """Whether each wrong row has come of the mean of another row, its rstd, or both."""
    rows, columns = out.shape
    if rows * rows * columns > MANY or wrong.sum() < ENOUGH:
        return False
    for row in np.flatnonzero(wrong):
        own = slice(row, row + 1)
        x, g = terms.x[own], terms.g[own]
        explained = False
        for of_mean, of_rstd in ((slice(None), slice(None)), (slice(None), own), (own, slice(None))):
            rstd = terms.rstd[of_rstd]
            n = (x - terms.mean[of_mean]) * rstd
            gives = rstd * (g - g.mean() - n * (g * n).mean(axis=1, keepdims=True))
            explained |= bool(_near(gives, out[own]).all(axis=1).any())
        if not explained:
            return False
    return True


def _of_sums(terms: _Terms, out: Exact, wrong: NDArray[np.bool_], little: bool) -> str | None:
    """What wrong rows have in common that are right but for means of their own: g - dx / rstd = a + b · n, with numbers
    a and b for each row. Of rows that are a little wrong, rounding alone is told."""
    g, n, r = terms.g, terms.n, terms.rstd
    g, n, rest, offset = g[wrong], n[wrong], (g - out / r)[wrong], terms.offset[wrong].mean(axis=1)
    a, b, tells = _fit(n, rest, 1.0 / (1.0 + np.abs(g)))
    right_a, right_b = terms.mean_g[:, 0], terms.mean_gn[:, 0]
    own_a, own_b = right_a[wrong], right_b[wrong]
    b = np.where(tells, b, own_b)
    a = np.where(tells, a, (rest - own_b[:, None] * n).mean(axis=1))
    fitted = a[:, None], b[:, None] * n
    allowed = NEAR * (np.abs(g) + np.abs(fitted[0]) + np.abs(fitted[1]) + 1.0)
    if not (np.abs(fitted[0] + fitted[1] - rest) <= allowed).all():
        return _LANES if _by_lanes(g, n, rest) else None
    of_a, of_b = np.abs(a - own_a), np.abs(b - own_b)
    # Of rounding dx alone, as often as it may be, numbers are off by less.
    scatter = 3.0 * HALF * np.sqrt(((out / r)[wrong] ** 2).mean(axis=1) / out.shape[1])
    moved = np.maximum(of_a, of_b * n.std(axis=1)) > 3.0 * scatter
    of_mean = 2.0 * HALF * (offset + 1.0)  # of the mean and of x, in standard deviations
    far = offset > LARGE_MEAN
    if (
        2 * moved[far].sum() > far.sum()
        and ((of_a <= of_mean * (np.abs(b) + 1.0)) & (of_b <= of_mean * (np.abs(own_a) + 1.0))).all()
    ):
        return _MEAN_ROUNDED
    share = 2.0 * HALF if wrong.all() else 16.0 * HALF  # rows of small terms are right if sums are rounded
    sizes = (np.abs(array).mean(axis=1) for array in (g, g * n))
    if all((off <= share * (size + 1.0)).all() for off, size in zip((of_a, of_b), sizes, strict=True)):
        return _ROUNDED if 2 * moved.sum() > len(moved) else None
    if little or not tells.any():
        return None
    same, own = (
        (np.abs(right_a - by_a[tells, None]) <= ALIKE) & (np.abs(right_b - by_b[tells, None]) <= ALIKE)
        for by_a, by_b in ((a, b), (own_a, own_b))
    )
    if tells.sum() >= ENOUGH and (same & np.logical_not(own)).any(axis=1).all():
        return _OTHER_SUMS
    rounded = HALF * np.abs(fitted[1]).max(axis=1)  # what a bears of the rounding of large elements
    right = [
        (off[tells] <= ALIKE * (1.0 + np.abs(at[tells])) + more[tells]).all()
        for off, at, more in ((of_a, own_a, rounded), (of_b, own_b, np.zeros_like(rounded)))
    ]
    return _SUMS.format(
        which="The mean of g * n is" if right[0] else "The mean of g is" if right[1] else "Both means are"
    )


def _fit(n: Exact, rest: Exact, weight: Exact) -> tuple[Exact, Exact, NDArray[np.bool_]]:
    """The numbers a and b of rest = a + b · n for each row, and where they can be told from one another."""
    total = weight.sum(axis=1)
    of_n, of_rest = ((weight * array).sum(axis=1) / total for array in (n, rest))
    d = n - of_n[:, None]
    square = (weight * d * d).sum(axis=1)
    b = (weight * d * (rest - of_rest[:, None])).sum(axis=1) / square
    return of_rest - b * of_n, b, square > NEAR * total


def _by_lanes(g: Exact, n: Exact, rest: Exact) -> bool:
    """Whether elements of a row that are equal come out differently, lane by lane. Most of an exact row are equal."""
    columns = g.shape[1]
    differ = False
    for of_g, of_n, result in zip(g, n, rest, strict=True):
        equal = np.flatnonzero((of_g == np.median(of_g)) & (of_n == np.median(of_n)))
        if len(equal) < WARP:
            continue
        near = NEAR * (np.abs(result[equal]).max() + 1.0)
        lanes = [result[equal[equal % WARP == lane]] for lane in range(min(WARP, columns))]
        if any(len(lane) and np.ptp(lane) > near for lane in lanes):
            return False
        differ |= bool(np.ptp(result[equal]) > near)
    return differ


def _of_column_sums(terms: _Terms, out: Exact, name: str) -> str | None:
    """What is said of a wrong dgamma or dbeta."""
    added = terms.dy * terms.n if name == "dgamma" else terms.dy
    right, size = added.sum(axis=0), np.abs(added).sum(axis=0)
    spoilt = np.isnan(right)
    if not np.isnan(out[spoilt]).all():
        return _COLUMN_SWALLOWED
    spread = np.flatnonzero(np.isnan(out) & ~spoilt)
    if len(spread):
        if np.isinf(right[spread]).all():
            return _COLUMN_INFINITE.format(column=spread[0], name=name)
        if not terms.gamma[spread].any():
            return _BY_GAMMA.format(column=spread[0], name=name)
        return _COLUMN_SPREAD.format(column=spread[0], name=name)
    added, out, right, size = added[:, ~spoilt], out[~spoilt], right[~spoilt], size[~spoilt]
    if _sums_to(right, out, size):
        return None
    found = {
        text
        for text, array in _column_formulas(terms, name)
        if _sums_to(array.sum(axis=0)[~spoilt], out, np.abs(array).sum(axis=0)[~spoilt])
    }
    if found:
        return found.pop() if len(found) == 1 else None
    return _of_missing_rows(added, out, right, size).format(name=name) or None


def _column_formulas(terms: _Terms, name: str) -> Iterator[tuple[str, Exact]]:
    """What is added up by mistake for dgamma or dbeta."""
    x, dy, n, r = terms.x, terms.dy, terms.n, terms.rstd
    rows, columns = x.shape
    added, other = (dy * n, dy) if name == "dgamma" else (dy, dy * n)
    yield _EXCHANGED, other
    yield _AVERAGED, added / rows
    yield _TWICE, 2.0 * added
    if rows >= columns:
        yield _OF_ROWS, added[:columns].T
    turned = np.arange(x.size).reshape(columns, rows).T
    if name == "dbeta":
        yield _DBETA_OF_G, terms.g
        yield _TURNED, dy.ravel()[turned]
        return
    yield _DGAMMA_OF_X, dy * x
    yield _DGAMMA_OF_X, dy * x * r
    yield _DGAMMA_NO_RSTD, dy * n / r
    yield _DGAMMA_OF_G, terms.g * n
    yield _DGAMMA_OF_N, n
    yield _N_RSTD_TWICE, dy * n * r
    for text, mean, rstd in _other_statistics(terms):
        yield _DGAMMA_BY_COLUMN if text == _SAVED_BY_COLUMN else text, dy * (x - mean) * rstd
    by_column = np.arange(columns) % rows
    yield _DGAMMA_BY_COLUMN, dy * (x - terms.mean[by_column, 0]) * r[by_column, 0]
    yield _TURNED, dy.ravel()[turned] * (x.ravel()[turned] - terms.mean) * r


def _of_missing_rows(added: Exact, out: Exact, right: Exact, size: Exact) -> str:
    """What is said of sums of some rows, of rows that are counted twice, and of sums that are a little wrong; nothing
    where that is not certain."""
    rows = len(added)
    if len(out) < ENOUGH:
        return ""
    if rows <= MOST_ROWS:
        for text, sums in ((_KEPT, out), (_MISSING, right - out), (_AGAIN, out - right)):
            found = _range(added, sums, SUMMED * size)
            if found is not None:
                first, last = found[0], found[1] - 1
                which = f"row {first}" if first == last else f"rows {first} to {last}"
                return text.format(name="{name}", which=which, rows=rows)
    for step in (2, 4, 8, 16, 32, 64, 128):
        for text, first, sign in ((_AGAIN, step, 1.0), (_MISSING, step - 1, -1.0)):  # at the end of each band
            if first < rows and _sums_to(right + sign * added[first::step].sum(axis=0), out, size):
                return text.format(name="{name}", which=f"one row in {step}", rows=rows)
        for first in range(min(step, rows) if rows > step else 0):
            if _sums_to(added[first::step].sum(axis=0), out, size):
                return _EVERY.format(name="{name}", step=step, first=first)
    few = rows <= MOST_ROWS  # one of them that is missing is more than that
    return _COLUMN_ROUNDED if few and (np.abs(out - right) <= 2.0 * HALF * size).all() else ""


def _range(added: Exact, sums: Exact, near: Exact) -> tuple[int, int] | None:
    """The one range of rows, and its end, whose sums these are."""
    rows = len(added)
    until = np.concatenate([np.zeros((1, added.shape[1])), np.cumsum(added, axis=0)])
    possible = np.triu(np.ones((rows + 1, rows + 1), bool), 1)
    for column in range(len(sums)):
        of_range = until[None, :, column] - until[:, None, column]
        possible &= np.abs(of_range - sums[column]) <= near[column]
        if not possible.any():
            return None
    found = np.argwhere(possible)
    return (int(found[0][0]), int(found[0][1])) if len(found) == 1 else None


def _sums_to(gives: Exact, out: Exact, size: Exact) -> bool:
    """Whether sums are these, but for rounding in single precision of terms that add up to `size`."""
    return gives.shape == out.shape and bool((np.abs(out - gives) <= SUMMED * size).all())


def _near(gives: Exact, out: Exact) -> NDArray[np.bool_]:
    return np.isclose(out, gives, rtol=NEAR, atol=NEAR, equal_nan=True)


def _gives(gives: Exact, out: Exact) -> bool:
    """Whether a formula gives a dx but for rounding to half precision; what is too large for that is infinite."""
    return bool(_near(gives.astype(np.float16), out).all())


NEAR = 2.0**-8
"""A larger difference is a mistake's, and not that of rounding to half precision."""

SUMMED = 2.0**-17
"""The same of sums of floats, as a share of their terms."""

LARGE_MEAN = 16.0
"""Times the standard deviation: with a larger mean, (x - mean) loses what a half has."""

ALIKE = 2.0**-6
"""Means that differ by less may be the same ones."""

ENOUGH = 8
"""Rows or columns, to say what they have in common."""

FEW = 1 << 16
"""Elements with which long lists of mistakes are tried."""

FLIPPED = 2.0**-5
"""The share of elements that are rounded to the other side, where sums are added up in another order."""

OTHER_EPS = (1e-2, 1e-3, 1e-5, 1e-6, 1e-8, 1e-12)
"""Numbers that are added to a variance."""

MOST_ROWS, MANY = 2048, 1 << 26
"""Rows of which all ranges are tried, and elements that are computed to find another row."""

WARP = 32
"""Threads of a warp."""

_DX = "dx = rstd * (g - mean of g - n * mean of g * n), where g = dy * gamma and n = (x - mean) * rstd"

_NO_MEANS = f"Neither mean is subtracted from g: {_DX}."
_NO_FIRST = f"The mean of g is not subtracted: {_DX}."
_NO_SECOND = f"n * mean of g * n is not subtracted: {_DX}."
_SIGNS = f"A mean is added that is to be subtracted: {_DX}."
_NO_N = f"n is missing before the second mean: n multiplies the mean of g * n, and nothing else. {_DX}."
_FIRST_OF_DY = f"The first mean is that of dy, and not of g: multiply dy by gamma first. {_DX}."
_SECOND_OF_DY = f"The second mean is that of dy * n, and not of g * n: multiply dy by gamma first. {_DX}."
_MEANS_OF_DY = (
    f"gamma is missing in both means, which are those of g and of g * n: multiply dy by it first. {_DX}."
)
_NO_RSTD = f"The last factor is missing, multiply by rstd: {_DX}."
_RSTD_TWICE = f"There is one rstd too many as a factor, multiply by it once at the end: {_DX}."
_RSTD_DIVIDES = f"dx is divided by rstd, which is 1 / sqrt(variance + eps) already: multiply by it. {_DX}."
_NO_GAMMA = f"gamma is missing, multiply dy by it first: {_DX}."
_GAMMA_AFTER = f"gamma comes after the means, which are those of dy * gamma: multiply dy by it first. {_DX}."
_NOT_DIVIDED = f"A sum over the row is not divided by N: take the means. {_DX}."
_BIASED = "The sums over the row are divided by N - 1: divide them by N, as the forward pass did."
_COLUMNS = "The means are those of columns: add up along the row, whose elements are neighbours, x[row * N + column]."
_GAMMA_BY_ROW = "gamma is taken by row: an element of column j takes gamma[j]."
_CENTRED = f"x - mean stands in the place of n: multiply it by rstd, in both places. {_DX}."
_NOT_CENTRED = f"The mean is not subtracted from x: take n = (x - mean) * rstd in both places. {_DX}."
_N_RSTD_TWICE = "rstd is a factor of n twice: n = (x - mean) * rstd."
_ANEW = (
    "mean or rstd is computed anew from x: read those that the forward pass has saved, mean[row] and rstd[row]. Its "
    "eps is not known here."
)
_DX_ROUNDED = (
    "dx is rounded to half precision more than once: keep the difference, the product and rstd in floats, and round "
    "once, where dx is stored."
)
_SAVED_BY_COLUMN = "mean and rstd are taken by column: an element of row i takes mean[i] and rstd[i]."
_OTHER_ROW = (
    "mean or rstd is that of another row: read it at the index of the element's own row, where it was stored, and "
    "while it is there."
)
_OTHER_SUMS = (
    "The two means over the row are those of another row: read them at the index of their own row, where they were "
    "stored, and while they are there."
)
_LANES = (
    "Elements of a row that are equal come out differently, lane by lane: the threads of a warp do not all have its "
    "sum. After __shfl_down_sync, lane 0 alone has it; take __shfl_xor_sync, which leaves it in every lane, or pass it "
    "on from lane 0 with __shfl_sync."
)
_MEAN_ROUNDED = (
    "The larger the mean of a row is beside its standard deviation, the more is its dx wrong: digits are lost before "
    "the mean is subtracted. Make a float of x, subtract the mean as a float, and add up g * n, not g * x."
)
_ROUNDED = (
    "The means over the row are a little wrong: their sums were rounded to half precision, or in too many additions "
    "into one number. Keep them in floats, and let each thread add up a part of the row."
)
_SUMS = (
    "{which} wrong, and all else is right: the sum has terms missing or too many, or is divided by another number than "
    "N. Look at the tail of the loop, and at how the sums of threads and of warps are put together."
)
_SWALLOWED = (
    "A row with a NaN, or infinities of both signs, has no means that are numbers: all of its dx has to become NaN. "
    "fmaxf and fminf drop NaN, and a comparison with NaN is false: leave the sums as they are."
)
_NAN = (
    "Row {row} of dx has a NaN, and its inputs have none: it comes of 0 * infinity, of a sum in half precision beyond "
    "65504, or of memory that nobody has written. Keep sums in floats, and set them to 0 first."
)
_BY_GAMMA = (
    "Column {column} of {name} is NaN, where gamma is 0: 0 / 0 is NaN. Do not divide a sum by gamma: add up dy, and "
    "dy * n, without it."
)
_EXCHANGED = "dgamma and dbeta are exchanged: store the sum of dy * n in dgamma, and the sum of dy in dbeta."
_AVERAGED = "The sum is divided by M: dgamma and dbeta are sums over all rows, leave out the division."
_TWICE = (
    "Each row is counted twice: let one thread alone add each element, and each partial sum be added once."
)
_OF_ROWS = "The sums are those of rows: element j adds up column j, x[row * N + j] over all rows."
_TURNED = (
    "Rows and columns are exchanged in the index: the element of a row and a column is x[row * N + column]."
)
_DGAMMA_OF_X = "The mean is not subtracted from x: dgamma adds up dy * n, take n = (x - mean) * rstd."
_DGAMMA_NO_RSTD = (
    "rstd is missing: dgamma adds up dy * n, multiply x - mean by the rstd of its row before adding."
)
_DGAMMA_OF_G = "gamma is a factor of what is added: dgamma adds up dy * n, take dy as it is, without gamma."
_DGAMMA_OF_N = "dy is missing: dgamma adds up dy * n, multiply n by dy."
_DGAMMA_BY_COLUMN = (
    "mean and rstd are taken by column: the element of row i that is added takes mean[i] and rstd[i]."
)
_DBETA_OF_G = "gamma is a factor of what is added: dbeta adds up dy as it is, leave gamma out."
_KEPT = (
    "{name} holds the sum of {which} only, of {rows}. Look at where the loop over rows starts and ends, and "
    "whether blocks overwrite one another's sums: keep partial sums for each block, and add all of them up in another "
    "launch, or use atomicAdd on an output that is set to 0."
)
_MISSING = (
    "{name} leaves out {which} of {rows}. Look at where a band of rows starts and ends, and that "
    "all partial sums are added up."
)
_AGAIN = "{name} counts {which} of {rows} twice. Let a band end where the next one starts, and before row M."
_EVERY = (
    "{name} holds the sum of one row in {step} only, from row {first} on: add the sums of the other "
    "threads that share the rows out."
)
_COLUMN_ROUNDED = (
    "{name} is a little wrong: sums, or what they add up, were rounded to half precision. Convert to float before "
    "multiplying, and keep sums and partial sums in floats."
)
_COLUMN_SWALLOWED = (
    "A column with a NaN has no sum that is a number: it has to become NaN. fmaxf and fminf drop NaN, and a comparison "
    "with NaN is false: add all terms as they are."
)
_COLUMN_INFINITE = (
    "Column {column} of {name} is NaN, and has to be infinite, as a term of it is. Infinity minus infinity is NaN: add "
    "all terms as they are, and take no difference of sums, as a compensated sum does."
)
_COLUMN_SPREAD = (
    "Column {column} of {name} is NaN, and its inputs have none: 0 * NaN is NaN. Do not multiply what belongs to "
    "another column by 0; do not add it, and set sums to 0 first."
)


class _Terms(NamedTuple):
    """What the gradients are made of, in float64: matrices, and columns of one number a row."""

    x: Exact
    dy: Exact
    gamma: Exact
    mean: Exact
    rstd: Exact
    n: Exact
    """(x - mean) · rstd"""
    offset: Exact
    """(|x| + |mean|) · rstd: what n is the difference of, if it is formed so."""

    @property
    def g(self) -> Exact:
        """dy · gamma: the gradient of n."""
        return self.dy * self.gamma

    @property
    def mean_g(self) -> Exact:
        mean: Exact = self.g.mean(axis=1, keepdims=True)
        return mean

    @property
    def mean_gn(self) -> Exact:
        mean: Exact = (self.g * self.n).mean(axis=1, keepdims=True)
        return mean

    def gradient(self, mean_g: Exact | float, mean_gn: Exact | float) -> Exact:
        """dx with these means."""
        return self.rstd * (self.g - mean_g - self.n * mean_gn)


def _terms(inputs: Mapping[str, Array] | Mapping[str, Exact]) -> _Terms:
    x, dy, gamma, mean, rstd = (
        np.asarray(inputs[name], np.float64) for name in ("x", "dy", "gamma", "mean", "rstd")
    )
    mean, rstd = mean[:, None], rstd[:, None]
    return _Terms(x, dy, gamma, mean, rstd, (x - mean) * rstd, (np.abs(x) + np.abs(mean)) * rstd)


def _magnitude(terms: _Terms) -> Exact:
    """An error bound of dx, in units of HALF. For dx = rstd · (g - mean of g - n · mean of g · n):

    - dx is rounded to half precision, and g may be, in each place and in the means, where errors cancel but for some
      4 / √N of them;
    - in single precision, means of N terms are rounded by some √N, n by as much as `offset`, and the last sum by a few
      units of its terms.
    """
    columns = terms.n.shape[1]
    g, n = np.abs(terms.g), np.abs(terms.n)
    mean_g, mean_gn = (array.mean(axis=1, keepdims=True) for array in (g, g * n))
    mean_offset = (g * terms.offset).mean(axis=1, keepdims=True)
    means = mean_g + n * mean_gn
    dx = np.abs(terms.gradient(terms.mean_g, terms.mean_gn))
    in_half = dx + terms.rstd * (g + min(1.0, 4.0 / np.sqrt(columns)) * means) + TINY / HALF
    of_n = terms.offset * np.abs(terms.mean_gn) + n * mean_offset
    in_single = terms.rstd * (6.0 * np.sqrt(columns) * means + 4.0 * (g + means + of_n))
    bound: Exact = in_half + SINGLE / HALF * in_single
    return bound


_OUTPUTS: Mapping[str, Callable[[_Terms], Exact]] = {
    "dx": lambda terms: terms.gradient(terms.mean_g, terms.mean_gn),
    "dgamma": lambda terms: (terms.dy * terms.n).sum(axis=0),
    "dbeta": lambda terms: terms.dy.sum(axis=0),
}
_MAGNITUDES: Mapping[str, Callable[[_Terms], Exact]] = {
    "dx": _magnitude,
    "dgamma": lambda terms: (np.abs(terms.dy) * (np.abs(terms.n) + 0.7 * terms.offset)).sum(axis=0),
    "dbeta": lambda terms: np.abs(terms.dy).sum(axis=0),
}


def _spikes(rows: int, columns: int, rng: np.random.Generator) -> tuple[Exact, Exact, Exact, Exact, Exact]:
    """x, dy, gamma, mean and rstd of "exact" inputs."""
    most = 1 if columns > LONG else 2
    rstd = rng.choice([1.0, 2.0], (rows, 1))
    usual_g, usual_n = (
        size * rng.choice([-1.0, 1.0], (rows, 1)) * rng.integers(1, most + 1, (rows, 1))
        for size in (2.0, rstd)
    )
    g, n = (np.repeat(usual, columns, axis=1) for usual in (usual_g, usual_n))
    pairs = np.minimum(rng.integers(1, SPIKES + 1, rows), columns // 2)
    row, place = special.places_in_rows(2 * pairs, special.near_the_end(rows, columns, rng), columns, rng)
    row, up, down = row[::2], place[::2], place[1::2]
    of_g = rng.random(len(row)) < 0.5
    of_g |= np.diff(row, prepend=-1) > 0  # the first of a row, at its end if there is one
    above = np.where(of_g, 512.0, 4.0 * rstd[row, 0]) * rng.choice([-2.0, -1.0, 1.0, 2.0], len(row))
    for array, chosen in ((g, of_g), (n, ~of_g)):
        array[row[chosen], up[chosen]] += above[chosen]
        array[row[chosen], down[chosen]] -= above[chosen]
    gamma = rng.choice([-2.0, -1.0, 1.0, 2.0], columns)
    mean = rng.integers(-4, 5, (rows, 1)).astype(np.float64)
    return mean + n / rstd, g / gamma, gamma, mean[:, 0], rstd[:, 0]


def _normal(shape: tuple[int, int], rng: np.random.Generator) -> Exact:
    """x of "real" inputs."""
    rows = shape[0]
    deviation = np.exp(0.5 * rng.standard_normal(rows))
    mean = 2.0 * deviation * rng.standard_normal(rows)
    fate = rng.integers(0, 16, rows)
    mean = np.where(fate < 2, rng.choice([-1.0, 1.0], rows) * 10.0 ** rng.uniform(1.0, 1.8, rows), mean)
    deviation = np.where(fate < 2, np.abs(mean) * FAR, deviation)
    deviation = np.where(fate == 4, 0.0, np.where(fate > 13, 1e-2, deviation))
    mean = np.where(fate > 13, 0.0, mean)
    return rng.standard_normal(shape) * deviation[:, None] + mean[:, None]
