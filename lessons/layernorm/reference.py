"""Layer norm of each row of a matrix: inputs, the answers, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from grader.workbook import special
from grader.workbook.misplaced import GROUPS, WARPS, other_divisors

Array = NDArray[np.float16]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]
Problem = Mapping[str, float]

SPIKE = 512.0
"""How far single elements of exact rows lie from all others."""

SHORT, MIDDLE = 512, 2048
"""Up to so many columns all other elements of an exact row lie at a number of up to 2 · SPIKE, and SPIKE; of longer
rows at 0. A mean that is updated element by element is rounded so little then."""

FAR = 2.0**-8
"""The standard deviation of a row as a share of its mean, where that is large: halves have 11 bits."""

LONG = 1 << 14
"""Of so many elements with a large mean, each a half, the sum is exact in single precision. Of more it is rounded, and
where they are nearly the same, always in one direction: longer rows have no such means."""

LEVEL, OPPOSITE = 40_000.0, 60_000.0
"""Where all elements of a row may lie but one, which is as far to the other side of 0: their difference is no half."""

HALF, SINGLE = 2.0**-11, 2.0**-24
"""Units of rounding of half and of single precision."""

TINY = 2.0**-25
"""Half the distance of subnormal halves: what rounding one may change at most."""


def make_inputs(
    problem: Problem, rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """x (M × N), gamma and beta (N), float16.

    "exact": rows in which all elements are the same but for one to four pairs that lie SPIKE above and below, anywhere
    or at the end of the row. Sums, mean and squares are exact; gamma is ±4 or ±8, and beta too small to cancel.
    "real": normally distributed, one in 64 elements five times as far from the mean. Of eight rows, one deviates by
    1/1000, so that eps counts, and one has a mean 256 times its standard deviation, up to 10⁴, if it is not too long.
    One in 16 is constant. In one in eight a single element is up to 60,000 away from 0, and in one in 16, if it is not
    too long, all others are as far to the other side: never the first, from which a kernel may take differences. The
    last row drifts: pieces of it have other means.
    """
    m, n = int(problem["M"]), int(problem["N"])
    if kind == "exact":
        gamma = rng.choice([-8.0, -4.0, 4.0, 8.0], n)
        beta = rng.choice([-2.0, -1.0, 1.0, 2.0], n)
        x = _spikes((m, n), rng)
    else:
        gamma = 1.0 + 0.25 * rng.standard_normal(n)
        gamma[rng.integers(0, 8, n) == 0] *= -1.0
        beta = 0.5 * rng.standard_normal(n)
        x = _normal((m, n), rng)
    return {name: array.astype(np.float16) for name, array in (("x", x), ("gamma", gamma), ("beta", beta))}


def special_inputs(problem: Problem, rng: np.random.Generator) -> dict[str, Array]:
    """As "real", with a NaN or an infinity in one row in eight, which makes NaN of the whole row. One in eight may be
    as large as halves are, and gamma and beta as small. Their products with (x - mean) / deviation, which may be
    rounded to half precision, stay what it holds. gamma and beta have a NaN, and beta an infinity, each of which passes
    into its column, in constant rows as well. gamma has none: times x - mean of about 0 it may be NaN or not."""
    inputs = make_inputs(problem, rng, "real")
    x = inputs["x"]
    rows, columns = x.shape
    for name, most in (("gamma", 2), ("beta", 10)):
        inputs[name] = (inputs[name] * np.exp2(rng.uniform(-20, most, columns))).astype(np.float16)
    order = rng.permutation(rows)
    count = max(1, rows // 8)
    for row in order[count : 2 * count]:
        values = 10.0 ** rng.uniform(-3, 4) * rng.standard_normal(columns)
        x[row] = values.clip(-LARGEST_HALF, LARGEST_HALF)
    for row in order[:count]:
        x[row, rng.integers(columns)] = rng.choice([np.nan, np.inf, -np.inf])
    for name, value in (("gamma", np.nan), ("beta", np.nan), ("beta", np.inf)):
        if columns > 1:  # a single one would be NaN in all rows
            inputs[name][rng.integers(columns)] = value
    return inputs


def reference(inputs: Mapping[str, Array], problem: Problem) -> dict[str, Exact]:
    """y (M × N), float64."""
    x, gamma, beta = (inputs[name].astype(np.float64) for name in ("x", "gamma", "beta"))
    normal, _ = _normalised(x, problem["eps"])
    return {"y": normal * gamma + beta}


def magnitude(inputs: Mapping[str, Array], problem: Problem) -> dict[str, Exact]:
    """What rounding errors are proportional to, (M × N), float64: see _magnitude."""
    x, gamma, beta = (inputs[name].astype(np.float64) for name in ("x", "gamma", "beta"))
    return {"y": _magnitude(*_normalised(x, problem["eps"]), gamma, beta, x.shape[1])}


def shapes(problem: Problem) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    m, n = int(problem["M"]), int(problem["N"])
    return {"x": (m, n), "gamma": (n,), "beta": (n,), "y": (m, n)}


def elements(read: Read, problem: Problem, name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of the output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    n = int(problem["N"])
    rows, which = np.unique(places // n, return_inverse=True)
    normals, offsets = _normalised(read("x", rows[:, None] * n + np.arange(n)), problem["eps"])
    columns = places % n
    normal, offset = normals[which, columns], offsets[which, 0]
    gamma, beta = read("gamma", columns), read("beta", columns)
    return normal * gamma + beta, _magnitude(normal, offset, gamma, beta, n)


def min_flop(problem: Problem) -> int:
    """An element takes an addition for the mean, a difference, a square and an addition for the variance, and two
    products and a sum for the result."""
    return 7 * int(problem["M"]) * int(problem["N"])


def min_bytes(problem: Problem) -> int:
    """Every element of x read once and of y written once, 2 bytes each, and gamma and beta read once."""
    m, n = int(problem["M"]), int(problem["N"])
    return 4 * m * n + 4 * n


def written_bytes(problem: Problem) -> int:
    """Of y."""
    return 2 * int(problem["M"]) * int(problem["N"])


def mistake(inputs: Mapping[str, Array], outputs: Mapping[str, Array], problem: Problem) -> str | None:
    """What is behind a wrong output: the one formula that gives all of it, or what its wrong rows have in common."""
    x, gamma, beta = (inputs[name].astype(np.float64) for name in ("x", "gamma", "beta"))
    out = outputs["y"].astype(np.float64)
    eps = problem["eps"]
    spoilt = np.logical_not(np.isfinite(x).all(axis=1))
    with np.errstate(all="ignore"):
        right = reference(inputs, problem)["y"]
        near = np.abs(out - right) <= HALF * magnitude(inputs, problem)["y"]
        near |= (out == right) | (np.isnan(out) & np.isnan(right))
        wrong = np.logical_not(near.all(axis=1))
        if not (wrong[~spoilt].any() or not np.isnan(out[spoilt]).all()):
            return None
        little = _gives(right, out)
        if not little:
            found = {text for text, gives in _formulas(x, gamma, beta, eps) if _gives(gives, out)}
            if x.size <= FEW and not found:
                found = _by_indices(x, gamma, beta, eps, out) or _by_merging(x, gamma, beta, eps, out)
            if len(found) == 1:
                return found.pop()
        if not np.isnan(out[spoilt]).all():
            return _SWALLOWED
        nan = (np.isnan(out) & ~np.isnan(right)).any(axis=1) & ~spoilt
        if not (np.abs(x[nan]).sum(axis=1) > LARGEST_HALF).all():
            return _NAN.format(row=np.flatnonzero(nan)[0])
        rest = ~(nan | spoilt)
        said = _of_rest(x[rest], gamma, beta, out[rest], wrong[rest], eps, _gives(right[rest], out[rest]))
        if not nan.any():
            return said
        return f"{_HALF_SUM} In other rows: {said}" if said else _HALF_SUM


def _of_rest(
    x: Exact, gamma: Exact, beta: Exact, out: Exact, wrong: NDArray[np.bool_], eps: float, little: bool
) -> str | None:
    """What wrong rows without NaN have in common."""
    if not little and _other_eps(x, gamma, beta, out, wrong, eps):
        return _OTHER_EPS
    finite = wrong & np.isfinite(out).all(axis=1)
    said = _of_rows(x, gamma, beta, out, finite, eps, little)
    if said is None and not little and _by_thread_0(x[wrong], gamma, beta, out[wrong]):
        return _THREAD_0
    return said


def _formulas(x: Exact, gamma: Exact, beta: Exact, eps: float) -> list[tuple[str, Exact]]:
    """Mistaken formulas with what they give."""
    m, n = x.shape
    mean = x.mean(axis=1, keepdims=True)
    d = x - mean
    variance = (d * d).mean(axis=1, keepdims=True)
    square = (x * x).mean(axis=1, keepdims=True)
    normal = d / np.sqrt(variance + eps)
    wrong = [
        (_NO_BETA, normal * gamma),
        (_NO_GAMMA, normal + beta),
        (_NO_AFFINE, normal),
        (_BETA_SCALED, (normal + beta) * gamma),
        (_NOT_CENTRED, x / np.sqrt(variance + eps) * gamma + beta),
        (_SQUARES, d / np.sqrt(square + eps) * gamma + beta),
        (_ROOT_MEAN_SQUARE, x / np.sqrt(square + eps) * gamma + beta),
        (_NO_EPS, d / np.sqrt(variance) * gamma + beta),
        (_EPS_OUTSIDE, d / (np.sqrt(variance) + eps) * gamma + beta),
        (_NO_ROOT, d / (variance + eps) * gamma + beta),
        (_NOT_SCALED, d / np.sqrt(1.0 + eps) * gamma + beta),
        (_NOT_SCALED, d * gamma + beta),
        (_EXCHANGED, normal * beta + gamma),
        (_NOT_DIVIDED, d / np.sqrt(variance * n + eps) * gamma + beta),
        (_COLUMNS, _normalised(x.T, eps)[0].T * gamma + beta),
        (_TRANSPOSED, _normalised(x.reshape(n, m).T, eps)[0] * gamma + beta),
        (_TRANSPOSED, (_normalised(x.reshape(n, m).T, eps)[0] * gamma + beta).T.reshape(m, n)),
    ]
    if n > 1:
        wrong.append((_BIASED, d / np.sqrt(variance * n / (n - 1) + eps) * gamma + beta))
    rows = np.arange(len(x))[:, None] % n
    wrong.append((_BY_ROW, normal * gamma[rows] + beta[rows]))
    return wrong


def _by_indices(x: Exact, gamma: Exact, beta: Exact, eps: float, out: Exact) -> set[str]:
    """What is said where mean and variance are right, and gamma or beta alone is that of another place: of the row, of
    the thread, or, for each column, of some other one."""
    rows, columns = x.shape
    normal, _ = _normalised(x, eps)
    row, column = np.arange(rows)[:, None] % columns, np.arange(columns)
    others = [row, *(column % group for group in GROUPS if group < columns)]
    found = set()
    for other in others:
        found |= {_GAMMA_INDEX} if _gives(normal * gamma[other] + beta, out) else set()
        found |= {_BETA_INDEX} if _gives(normal * gamma + beta[other], out) else set()
        found |= {_BOTH_INDICES} if _gives(normal * gamma[other] + beta[other], out) else set()
    if found or rows < ENOUGH:
        return found
    # A column's elements are a straight line over those of `normal`: its slope is a gamma, and where it begins a beta.
    off = normal - normal.mean(axis=0)
    slope = (off * out).sum(axis=0) / (off * off).sum(axis=0)
    slope = np.where(np.isfinite(slope), slope, gamma)
    start = out.mean(axis=0) - slope * normal.mean(axis=0)
    allowed = NEAR * (np.abs(normal * slope) + np.abs(start) + 1.0)
    known = _is_among(slope, gamma).all() and _is_among(start, beta).all()
    if not known or not (np.abs(normal * slope + start - out) <= allowed).all():
        return set()
    of_gamma, of_beta = (np.abs(slope - gamma) > APART).any(), (np.abs(start - beta) > APART).any()
    if of_gamma and of_beta:
        return {_BOTH_INDICES}
    return {_GAMMA_INDEX} if of_gamma else {_BETA_INDEX} if of_beta else set()


def _is_among(values: Exact, others: Exact) -> NDArray[np.bool_]:
    """Whether each is near one of the others."""
    others = np.unique(others)
    behind = np.clip(np.searchsorted(others, values), 1, max(1, len(others) - 1))
    nearest = np.stack([others[behind - 1], others[np.minimum(behind, len(others) - 1)]])
    near: NDArray[np.bool_] = np.abs(values - nearest) <= 2.0 * NEAR * (np.abs(nearest) + 1.0)
    return near.any(axis=0)


def _by_merging(x: Exact, gamma: Exact, beta: Exact, eps: float, out: Exact) -> set[str]:
    """What is said of a thread's part, or of parts that are merged, where so many threads share a row that each takes
    every so-manyth element. Of a few rows, nothing is: one number fits by chance."""
    rows, columns = x.shape
    if rows < ENOUGH:
        return set()
    mean = x.mean(axis=1, keepdims=True)
    d = x - mean
    squares = (d * d).sum(axis=1, keepdims=True)
    most = np.abs(d).max(axis=1, keepdims=True) + np.abs(mean)

    def gives(of_squares: Exact) -> bool:
        root = np.sqrt(of_squares / columns + eps)
        return _gives(d / root * gamma + beta, out, ROUNDED * most / root * np.abs(gamma))

    found = {_NO_SQUARES} if gives(np.zeros_like(squares)) else set()
    for threads in (1, *WARPS):
        turns = -(-columns // threads)
        if rows * turns * threads > 4 * FEW:
            break
        parts = np.zeros((rows, turns * threads))
        parts[:, :columns] = x
        parts = parts.reshape(rows, turns, threads)
        there = (np.arange(turns * threads) < columns).reshape(turns, threads)
        turn = np.arange(1.0, turns + 1.0)[:, None]
        before = (np.cumsum(parts, axis=1) - parts) / np.maximum(turn - 1.0, 1.0)
        old = np.where(there, (parts - before) ** 2, 0.0)  # from the mean before the element
        for excess in (old / turn, old * (1.0 - turn) / turn**2):
            found |= {_ONE_DISTANCE} if gives(squares + excess.sum(axis=(1, 2))[:, None]) else set()
        if threads == 1:
            continue
        own = parts.sum(axis=1)
        counts = there.sum(axis=0) * np.ones((rows, 1))
        within = (np.where(there, (parts - (own / np.maximum(counts, 1.0))[:, None]) ** 2, 0.0)).sum(axis=1)
        if columns > threads and gives(within.sum(axis=1, keepdims=True)):
            found.add(_NOTHING_BETWEEN)
        moments = counts, own / np.maximum(counts, 1.0), within
        for far_first in (True, False):
            for empty in (True, False):
                found |= {_HALF_BETWEEN} if gives(_half_between(*moments, far_first, empty)) else set()
        # Of a thread that takes its part for all.
        mean_of_part = np.tile(own / columns, turns)[:, :columns]
        apart = np.zeros_like(parts).reshape(rows, -1)
        apart[:, :columns] = (x - mean_of_part) ** 2
        root = np.sqrt(np.tile(apart.reshape(parts.shape).sum(axis=1) / columns, turns)[:, :columns] + eps)
        found |= {_OWN_PART} if _gives((x - mean_of_part) / root * gamma + beta, out) else set()
    return found


def _half_between(counts: Exact, means: Exact, squares: Exact, far_first: bool, empty: bool) -> Exact:
    """The sums of squares (rows × 1) of a tree that adds half the squared distance of two means, the farthest partners
    first or the nearest, and to parts without elements as well or not."""
    while counts.shape[1] > 1:
        half = counts.shape[1] // 2
        a, b = (slice(half), slice(half, None)) if far_first else (slice(0, None, 2), slice(1, None, 2))
        both = counts[:, a] + counts[:, b]
        apart = means[:, b] - means[:, a]
        merge = both > 0.0 if empty else (counts[:, a] > 0.0) & (counts[:, b] > 0.0)
        squares = squares[:, a] + squares[:, b] + np.where(merge, 0.5 * apart * apart, 0.0)
        means = means[:, a] + apart * counts[:, b] / np.maximum(both, 1.0)
        counts = both
    return squares


def _other_eps(x: Exact, gamma: Exact, beta: Exact, out: Exact, wrong: NDArray[np.bool_], eps: float) -> bool:
    """Whether one and the same number in the place of eps gives all of an output. Of rows that all have about the same
    variance, nothing is said."""
    d = x - x.mean(axis=1, keepdims=True)
    variance = (d * d).mean(axis=1, keepdims=True)
    of_wrong = np.where(wrong & (variance[:, 0] > 0.0), variance[:, 0], np.inf)
    row = int(np.argmin(of_wrong))
    if not 4.0 * of_wrong[row] <= np.max(variance):
        return False
    terms = d[row] * gamma
    root = (terms * terms).sum() / (terms * (out[row] - beta)).sum()
    added = max(0.0, root * root - of_wrong[row]) if 0.0 < root < np.inf else np.nan
    return _gives(np.where(d == 0.0, 0.0, d / np.sqrt(variance + added)) * gamma + beta, out)


def _of_rows(
    x: Exact, gamma: Exact, beta: Exact, out: Exact, wrong: NDArray[np.bool_], eps: float, little: bool
) -> str | None:
    """What wrong rows have in common that are right but for a mean and a variance of their own: such a row is
    (a · normal + b) · gamma + beta, with numbers a and b of its own. Of rows that are a little wrong, rounding alone is
    told."""
    columns = x.shape[1]
    normal, offset = _normalised(x, eps)
    if columns < ENOUGH or not wrong.any():
        return None
    fitted = _fit(normal[wrong], gamma, out[wrong] - beta, beta)
    if fitted is None:
        return _LANES if _by_lanes(x[wrong], gamma, beta, out[wrong]) else None
    a, b = fitted
    rounded = _of_rounding(np.abs(offset[:, 0]), wrong, np.abs(a - 1.0), np.abs(b))
    if rounded is not None or little:
        return rounded
    of_mean = np.abs(a - 1.0) <= np.abs(b) / 4 + HALF
    of_variance = np.abs(b) <= np.abs(a - 1.0) / 4 + HALF
    if of_variance.all():
        return _of_variances(x, wrong, a, eps)
    return _of_another(x, wrong, a, b, eps) or (_MEAN if of_mean.all() else _SUMS)


def _fit(normal: Exact, gamma: Exact, out: Exact, beta: Exact) -> tuple[Exact, Exact] | None:
    """The numbers a and b of (a · normal + b) · gamma for each row, if they give all rows. Of a row of equal elements,
    a is 1."""
    scaled = normal * gamma
    aa, ab, bb = (scaled * scaled).sum(axis=1), (scaled * gamma).sum(axis=1), (gamma * gamma).sum()
    of_a, of_b = (scaled * out).sum(axis=1), (gamma * out).sum(axis=1)
    determinant = aa * bb - ab * ab
    a = np.where(aa > 0.0, (of_a * bb - of_b * ab) / determinant, 1.0)
    b = (of_b - a * ab) / bb
    terms = a[:, None] * scaled, b[:, None] * gamma
    allowed = NEAR * (np.abs(terms[0]) + np.abs(terms[1]) + np.abs(beta) + 1.0)
    return (a, b) if (np.abs(terms[0] + terms[1] - out) <= allowed).all() else None


def _of_rounding(offset: Exact, wrong: NDArray[np.bool_], of_root: Exact, of_mean: Exact) -> str | None:
    """What is said where large means alone make roots wrong, or means are a little wrong. Errors are in standard
    deviations, as the means are."""
    far = offset > LARGE_MEAN
    if of_root.max() > 4.0 * of_mean.max() and far[wrong].all() and not far.all():
        return _CANCELLED
    if of_mean.max() > 4.0 * of_root.max() and (of_mean <= 2.0 * HALF * (offset[wrong] + 1.0)).all():
        return _MEAN_ROUNDED
    return None


def _by_lanes(x: Exact, gamma: Exact, beta: Exact, out: Exact) -> bool:
    """Whether equal elements of a row come out differently, lane by lane. Most elements of an exact row are equal."""
    columns = x.shape[1]
    if columns < 3 * WARP or not gamma.all():
        return False
    differ = False
    for row, results in zip(x, (out - beta) / gamma, strict=True):
        equal = np.flatnonzero(row == np.median(row))
        if len(equal) < columns // 2:
            return False
        near = NEAR * (np.abs(results[equal]).max() + 1.0)
        by_lane = [results[equal[equal % WARP == lane]] for lane in range(WARP)]
        if any(len(of_lane) and np.ptp(of_lane) > near for of_lane in by_lane):
            return False
        differ |= bool(np.ptp(results[equal]) > near)
    return differ


def _by_thread_0(x: Exact, gamma: Exact, beta: Exact, out: Exact) -> bool:
    """Whether of the elements of exact rows that lie at the mean, where they are beta whatever the variance is, the
    first alone is right."""
    at_mean = x == x.mean(axis=1, keepdims=True)
    right = np.abs(out - beta) <= NEAR * (np.abs(beta) + np.abs(gamma))
    first, rest = at_mean[:, 0], at_mean[:, 1:]
    return bool(
        first.sum() >= ENOUGH
        and right[first, 0].all()
        and 2 * rest.sum() >= rest.size
        and 2 * (rest & right[:, 1:]).sum() <= rest.sum()
    )


def _of_variances(x: Exact, wrong: NDArray[np.bool_], a: Exact, eps: float) -> str:
    """What is said of wrong variances. That all rows are wrong by one factor is no matter of missing squares; what
    number they are divided by, many rows tell that differ."""
    d = x[wrong] - x[wrong].mean(axis=1, keepdims=True)
    if (a <= NEAR).all() and ((d * d).sum(axis=1) > LARGEST_HALF).all():
        return _HALF_SQUARES
    variance = x[wrong].var(axis=1)
    tells = variance > 1e3 * eps
    factors = (((variance + eps) / (a * a) - eps) / variance)[tells]
    if (
        tells.sum() >= ENOUGH
        and factors.max() / factors.min() - 1.0 <= NEAR
        and np.ptp(variance[tells]) > 0.0
    ):
        factor, columns = np.median(factors), x.shape[1]
        divisors = other_divisors(*x.shape).items()
        known = [name for number, name in divisors if abs(factor * number / columns - 1.0) <= NEAR]
        return _DIVISOR.format(number=known[0]) if len(known) == 1 else _FACTOR.format(factor=f"{factor:.3g}")
    return _VARIANCE_SMALL if (a > 1.0).all() else _VARIANCE_LARGE if (a < 1.0).all() else _SUMS


def _of_another(x: Exact, wrong: NDArray[np.bool_], a: Exact, b: Exact, eps: float) -> str | None:
    """Whether the mean of each wrong row is that of another row, or mean and variance are. Rows of equal elements
    do not tell."""
    mean, root = x.mean(axis=1), np.sqrt(x.var(axis=1) + eps)
    tells = np.ptp(x[wrong], axis=1) > 0.0
    rows, a, b = np.flatnonzero(wrong)[tells], a[tells, None], b[tells, None]
    near = NEAR * (1.0 + np.abs(b))
    of_wrong = root[rows, None] / a
    same = np.abs(mean[rows, None] - b * of_wrong - mean) <= near * of_wrong
    own = np.arange(len(rows)), rows
    its_own = same[own].any()
    same[own] = False
    if not len(rows) or not same.any(axis=1).all():
        return None
    if (np.abs(a - 1.0) <= near).all():
        return None if its_own else _OTHER_ROW
    away = (
        b * of_wrong
    )  # of the mean from that which is subtracted; the variance may be formed around that one, too
    around = np.sqrt(x.var(axis=1)[rows, None] + away * away + eps)
    if (np.abs(of_wrong - around) <= near * around).all():
        return None if its_own else _OTHER_ROW
    same &= np.abs(of_wrong - root) <= near * root
    return _OTHER_STATISTICS if same.any(axis=1).all() else None


def _gives(gives: Exact, out: Exact, slack: Exact | float = 0.0) -> bool:
    """Whether a formula gives an output but for rounding to half precision, and `slack`; what is too large for that is
    infinite."""
    gives = gives.astype(np.float16).astype(np.float64)
    same = (out == gives) | (np.isnan(out) & np.isnan(gives))
    near = np.isfinite(gives) & (np.abs(out - gives) <= NEAR * (1.0 + np.abs(gives)) + slack)
    return bool((same | near).all())


NEAR = 2.0**-8
"""A larger difference is a mistake's, and not that of rounding to half precision."""

APART = 0.25
"""A gamma or beta so far away is another one."""

LARGE_MEAN = 16.0
"""Times the standard deviation: with a larger mean, squares cancel."""

ENOUGH = 8
"""Columns, to fit two numbers to a row; and rows, to say what they have in common."""

WARP = 32
"""Threads of a warp."""

FEW = 1 << 18
"""Elements with which long lists of mistakes are tried."""

ROUNDED = 2.0**-21
"""Of a mean that many merges have rounded."""

LARGEST_HALF = 65504.0
"""The largest number of half precision."""

_NO_BETA = "beta is not added: y = (x - mean) / sqrt(variance + eps) * gamma + beta."
_NO_GAMMA = "Nothing is multiplied by gamma: y = (x - mean) / sqrt(variance + eps) * gamma + beta."
_NO_AFFINE = "gamma and beta are missing: y = (x - mean) / sqrt(variance + eps) * gamma + beta."
_BETA_SCALED = "beta is multiplied by gamma as well: it is added last."
_NOT_CENTRED = "The mean is not subtracted from x: it is (x - mean) that is divided by the root."
_SQUARES = (
    "The mean of the squares stands in the place of the variance, which is the mean of (x - mean)²: it is smaller by "
    "mean²."
)
_ROOT_MEAN_SQUARE = (
    "This is an RMS norm, x / sqrt(mean of x² + eps): a layer norm subtracts the mean of the row, and divides by the "
    "root of the mean of (x - mean)²."
)
_NO_EPS = "eps is not used: it is added to the variance, under the root."
_EPS_OUTSIDE = "eps is added to the root: it belongs under it, sqrt(variance + eps)."
_NO_ROOT = "The root is missing: it is (x - mean) / sqrt(variance + eps)."
_NOT_SCALED = (
    "The variance is not used, or is still 1: (x - mean) is divided by sqrt(variance + eps), and the variance is the "
    "mean of (x - mean)²."
)
_EXCHANGED = "gamma and beta are exchanged: gamma is the factor, and beta is added."
_NOT_DIVIDED = "The sum of the squares is not divided by N: the variance is the mean of (x - mean)²."
_COLUMNS = (
    "Mean and variance are those of columns: the elements of a row are neighbours, x[row * N + column]."
)
_TRANSPOSED = (
    "The indices of x are exchanged: row and column are at x[row * N + column], not x[column * M + row]."
)
_BIASED = "The sum of (x - mean)² is divided by N - 1: a layer norm divides it by N."
_DIVISOR = "The mean is right, but the sum of (x - mean)² is divided by {number}: divide it by N."
_FACTOR = (
    "The mean is right, but the variance is {factor} times what it has to be, in all rows alike: look at what the sum "
    "of (x - mean)² is divided by, and whether each square is added once."
)
_OTHER_EPS = (
    "Another number is added to the variance than eps, which differs from launch to launch: take the argument, and add "
    "it once, under the root."
)
_OTHER_ROW = (
    "The mean that is subtracted is that of another row: look at the index of the row where its sum is formed, and "
    "where the mean is stored and read."
)
_OTHER_STATISTICS = (
    "Mean and variance are those of another row: they have to be read at the index of their own row, where they were "
    "stored, and while they are there."
)
_BY_ROW = "gamma and beta are taken by row: an element of column j takes gamma[j] and beta[j]."
_GAMMA_INDEX = (
    "Mean, variance and beta are right: look at the index of gamma. An element of column j takes gamma[j]."
)
_BETA_INDEX = (
    "Mean, variance and gamma are right: look at the index of beta. An element of column j takes beta[j]."
)
_BOTH_INDICES = (
    "Mean and variance are right: look at the indices of gamma and beta. An element of column j takes gamma[j] and "
    "beta[j]."
)
_CANCELLED = (
    "Wrong are rows whose mean is large beside their standard deviation, and no others; their variance is. The mean of "
    "x² and the square of the mean are then large numbers that differ in their last digits alone. Subtract the mean "
    "first, as a float, and add up (x - mean)², or keep mean and sum of squares as Welford does."
)
_MEAN_ROUNDED = (
    "The variance is right, but the mean is a little wrong: less than 1/1000 of it. It, or a sum that it comes from, "
    "was rounded to half precision, or in too many additions into one number. Keep both in floats, and let each thread "
    "add up a part of the row."
)
_HALF_SUM = (
    "Rows whose elements add up to more than 65504 come out as NaN: that is the largest half, and a larger sum is "
    "infinite. Keep sums in floats."
)
_HALF_SQUARES = (
    "Only rows whose squares add up to more than 65504 are wrong: that is the largest half, and their variance is "
    "infinite. Square floats, and keep the sum in a float."
)
_LANES = (
    "Elements of a row that are equal come out differently, lane by lane: the threads of a warp do not all have its "
    "sum. After __shfl_down_sync, lane 0 alone has it; __shfl_xor_sync leaves it in every lane, and __shfl_sync passes "
    "it on from lane 0."
)
_THREAD_0 = (
    "Elements of a row that are equal come out differently, and those of thread 0 are right: the other threads do not "
    "have the sum. Let thread 0 store it in shared memory, and all threads read it behind a __syncthreads()."
)
_OWN_PART = (
    "Each thread takes its own part of the sum for that of the row: read the sum where the last step of the tree, or "
    "of the shuffles, has left it."
)
_NO_SQUARES = (
    "The mean is right, but the variance is 0: nothing comes to the sum of squares. Of threads that have an element "
    "each and merge, all of it comes from the means: two parts of n_a and n_b elements, whose means differ by d, add "
    "d² · n_a · n_b / (n_a + n_b) to the sum of squares of both."
)
_NOTHING_BETWEEN = (
    "The sum of squares is that of the threads' own parts alone: where two parts of n_a and n_b elements are merged, "
    "whose means differ by d, d² · n_a · n_b / (n_a + n_b) is added."
)
_HALF_BETWEEN = (
    "d² / 2 is right for two parts of an element each alone: parts of n_a and n_b elements, whose means differ by d, "
    "add d² · n_a · n_b / (n_a + n_b) to the sum of squares of both."
)
_ONE_DISTANCE = (
    "One distance is squared where Welford's update takes two: squares += (x - old mean) * (x - new mean)."
)
_VARIANCE_SMALL = (
    "The mean is right, but the variance is too small: squares are missing. Look at the tail of the loop. And where "
    "two parts of a row are merged, n_a and n_b elements with means that differ by d, the sum of the squares is that "
    "of both parts, plus d² · n_a · n_b / (n_a + n_b)."
)
_VARIANCE_LARGE = (
    "The mean is right, but the variance is too large: there are squares too many. What lies beyond the end of the row "
    "must not count: a zero there changes no sum, but (0 - mean)² is no zero. And each square is added once."
)
_MEAN = (
    "The variance is right, but the mean is not: the sum of the row has terms missing or too many, or is divided by "
    "another number than N. Look at the tail of the loop; where means are merged, each counts by the number of its "
    "elements."
)
_SUMS = (
    "Rows are right but for a mean and a variance of their own: their sum has terms missing or too many, or partial "
    "results are merged wrongly. Look at the tail of the loop. Where two parts are merged, each mean counts by the "
    "number of its elements, n_a and n_b; and the sum of the squares is that of both parts, plus d² · n_a · n_b / "
    "(n_a + n_b), where d is the difference of the means."
)
_SWALLOWED = (
    "A row with a NaN or an infinity has no mean that is a number: all of the row has to become NaN. fmaxf and fminf "
    "drop NaN, and a comparison with NaN is false: leave a variance that is a sum of squares as it is. Nor is x left "
    "out where gamma is 0: 0 times NaN is NaN."
)
_NAN = (
    "Row {row} of y has a NaN, and its inputs have none: it comes of the root of a negative number, where the variance "
    "is a difference; of 0 / 0, where a part of a row has no elements, or eps is not added; or of memory that "
    "nobody has written."
)


def _normalised(x: Exact, eps: float) -> tuple[Exact, Exact]:
    """n = (x - mean) / root of each row, where root is sqrt(variance + eps), and (|mean| + sqrt(variance)) / root
    (rows × 1): how large its elements are, in the unit of n."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = x.mean(axis=1, keepdims=True)
        centred = x - mean
        variance = (centred * centred).mean(axis=1, keepdims=True)
        root = np.sqrt(variance + eps)
        return centred / root, (np.abs(mean) + np.sqrt(variance)) / root


def _magnitude(normal: Exact, offset: Exact, gamma: Exact, beta: Exact, columns: int) -> Exact:
    """An error bound, in units of HALF. For y = n·gamma + beta:

    - y is rounded to half precision, and n·gamma may be, before beta is added: |y| + |n·gamma|;
    - what is rounded in single precision are sums of N terms, by some √N, and a mean that each thread of a warp
      updates with each of its elements, by up to N / 64 on the average: of the variance as a share of n, and of the
      mean as a share of what is added, which n takes in standard deviations, as `offset`: elements, or their
      differences from one of them.
    """
    with np.errstate(invalid="ignore"):
        scaled = np.abs(normal * gamma)
        in_half = np.abs(normal * gamma + beta) + scaled + TINY / HALF
        in_single = (6.0 * np.sqrt(columns) + columns / 64.0) * (scaled + np.abs(offset * gamma))
        bound: Exact = in_half + SINGLE / HALF * in_single
        return bound


def _spikes(shape: tuple[int, int], rng: np.random.Generator) -> Exact:
    rows, columns = shape
    most = 2 if columns <= SHORT else 1 if columns <= MIDDLE else 0
    levels = rng.integers(-most, most + 1, (rows, 1))
    levels[0] = levels[0] or most  # a first row at 0 would be no different from none
    values = np.repeat(SPIKE * levels, columns, axis=1)
    pairs = np.minimum(1 << rng.integers(0, 3, rows), columns // 2)
    row, place = special.places_in_rows(2 * pairs, special.near_the_end(rows, columns, rng), columns, rng)
    spikes = rng.choice([-SPIKE, SPIKE], len(row) // 2)
    values[row, place] += np.stack([spikes, -spikes], axis=1).ravel()
    return values


def _normal(shape: tuple[int, int], rng: np.random.Generator) -> Exact:
    rows, columns = shape
    values = rng.standard_normal(shape)
    values[rng.integers(0, 64, shape, dtype=np.int8) == 0] *= 5.0
    deviation = np.exp(rng.standard_normal(rows))
    mean = 2.0 * deviation * rng.standard_normal(rows)
    fate = rng.integers(0 if columns <= LONG else 5, 16, rows)
    fate[-1] = 5
    values[-1] += np.linspace(-3.0, 3.0, columns)
    mean = np.where(fate < 2, rng.choice([-1.0, 1.0], rows) * 10.0 ** rng.uniform(2.0, 4.0, rows), mean)
    deviation = np.where(fate < 2, np.abs(mean) * FAR, deviation)
    deviation = np.where(fate == 4, 0.0, np.where(fate > 13, 1e-3, deviation))
    mean = np.where(fate > 13, 0.0, mean)
    sides = rng.choice([-1.0, 1.0], rows)
    mean = np.where(fate == 3, sides * LEVEL, mean)
    deviation = np.where(fate == 3, LEVEL * FAR, deviation)
    values = values * deviation[:, None] + mean[:, None]
    single = np.flatnonzero((fate == 3) | (fate == 6) | (fate == 7))
    places = rng.integers(min(1, columns - 1), columns, len(single))
    far = np.where(fate == 3, OPPOSITE, OPPOSITE * 10.0 ** rng.uniform(-2.0, 0.0, rows))
    values[single, places] = (-sides * far)[single]
    return values
