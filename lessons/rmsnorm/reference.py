"""RMS norm of each row of a sum of two matrices: inputs, the answers, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, product
from typing import Any, Literal

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from grader.workbook import special
from grader.workbook.misplaced import GROUPS, WARPS, other_divisors, other_indices, other_rows

Array = NDArray[Any]  # of bfloat16, which NumPy's types do not name
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]
Problem = Mapping[str, float]

SPIKES = (16.0, 64.0, 128.0)
"""How large single elements of exact rows are, whose others are ±1: in rows of up to 64 columns, of up to 16,384, and
of more. In a mean square, one of them counts as much as hundreds or thousands of the others."""

WIDTHS = (64, 1 << 14)

BFLOAT, SINGLE = 2.0**-8, 2.0**-24
"""Units of rounding of BF16 and of single precision."""

LARGE = 1e10
"""The largest element of a row by whose root a small gamma becomes a subnormal float, with more digits than BF16."""

TINY = 2.0**-133
"""The smallest subnormal of BF16."""


def make_inputs(
    problem: Problem, rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """x and residual (M × N) and gamma (N), bfloat16.

    "exact": rows whose sum is ±1 but for one to four elements, which are larger, anywhere or at the end of the row.
    In the second row, the last element is one of them. Sums and squares are whole numbers that BF16 and floats hold;
    gamma is ±1, ±2 or ±4.
    "real": normally distributed, one in 64 elements eight times as large. Of eight rows, one is a thousand times
    smaller, so that eps counts, and one a thousand times larger. One in 16 is zero. In one in eight the residual begins
    with zeros, up to the middle of the row.
    """
    m, n = int(problem["M"]), int(problem["N"])
    if kind == "exact":
        added = _spikes((m, n), rng)
        residual = rng.integers(-3, 4, (m, n)).astype(np.float64)
        x = added - residual
        gamma = rng.choice([-4.0, -2.0, -1.0, 1.0, 2.0, 4.0], n)
    else:
        size = np.exp(0.5 * rng.standard_normal((m, 1)))
        fate = rng.integers(0, 16, (m, 1))
        size = np.where(fate < 2, 1e-3 * size, np.where(fate < 4, 1e3 * size, np.where(fate == 4, 0.0, size)))
        x, residual = (_normal((m, n), rng) * size for _ in range(2))
        residual[rng.integers(0, 8, m) == 0, : n // 2] = 0.0
        gamma = 1.0 + 0.25 * rng.standard_normal(n)
        gamma[rng.integers(0, 8, n) == 0] *= -1.0
    given = {"x": x, "residual": residual, "gamma": gamma}
    return {name: array.astype(ml_dtypes.bfloat16) for name, array in given.items()}


def special_inputs(problem: Problem, rng: np.random.Generator) -> dict[str, Array]:
    """As "real", with a NaN or an infinity in x or the residual in one row in eight. A NaN, and two infinities that
    cancel, make NaN of the whole row of y; an infinity makes NaN of itself and 0 of all others. gamma goes from 1e-30
    to 1e30, and rows, of which one is LARGE, from 1e-12 to 1e12: sums of squares are finite as floats. gamma has a NaN
    and an infinity as well, which pass into their columns. Where N leaves a remainder of 2 by 4, a row is zero: times
    an infinity it is NaN."""
    inputs = make_inputs(problem, rng, "real")
    rows, columns = inputs["x"].shape
    size = 10.0 ** rng.uniform(-9, 9, (rows, 1))
    order = rng.permutation(rows)
    count = max(1, rows // 8)
    own = np.abs(inputs["x"].astype(np.float64)).max(axis=1)
    for row in sorted(order[count:], key=lambda row: own[row])[-1:]:
        size[row] = LARGE / own[row] if own[row] else 1.0
    by = {"x": size, "residual": size, "gamma": 10.0 ** rng.uniform(-30, 30, columns)}
    for name, factors in by.items():
        inputs[name] = (inputs[name] * factors).astype(ml_dtypes.bfloat16)
    for value in (np.nan, np.inf):
        inputs["gamma"][rng.integers(columns)] = value
    if columns % 4 == 2:
        inputs["x"][order[-1]] = inputs["residual"][order[-1]] = 0.0
    for row in order[:count]:
        inputs[rng.choice(["x", "residual"])][row, rng.integers(columns)] = rng.choice(
            [np.nan, np.inf, -np.inf]
        )
    return inputs


def reference(inputs: Mapping[str, Array], problem: Problem) -> dict[str, Exact]:
    """y and sum (M × N), float64; y is the norm of the sum as BF16 stores it."""
    added, stored = _added(inputs["x"], inputs["residual"])
    return {"y": _normal_of(stored, problem["eps"]) * inputs["gamma"].astype(np.float64), "sum": added}


def magnitude(inputs: Mapping[str, Array], problem: Problem) -> dict[str, Exact]:
    """What rounding errors are proportional to, (M × N), float64: see _magnitude. The sum is rounded once."""
    added, stored = _added(inputs["x"], inputs["residual"])
    y = _normal_of(stored, problem["eps"]) * inputs["gamma"].astype(np.float64)
    return {"y": _magnitude(y, stored), "sum": np.abs(added)}


def shapes(problem: Problem) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    m, n = int(problem["M"]), int(problem["N"])
    return {**dict.fromkeys(("x", "residual", "y", "sum"), (m, n)), "gamma": (n,)}


def elements(read: Read, problem: Problem, name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of an output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    n = int(problem["N"])
    if name == "sum":
        added = read("x", places) + read("residual", places)
        return added, np.abs(added)
    rows, which = np.unique(places // n, return_inverse=True)
    row = rows[:, None] * n + np.arange(n)
    _, stored = _added(read("x", row), read("residual", row))
    y = _normal_of(stored, problem["eps"]) * read("gamma", np.arange(n))
    at = which, places % n
    return y[at], _magnitude(y, stored)[at]


def min_flop(problem: Problem) -> int:
    """An element takes an addition for the sum, a product and an addition for the mean square, and two products."""
    return 5 * int(problem["M"]) * int(problem["N"])


def min_bytes(problem: Problem) -> int:
    """Every element of x and of the residual read once, of y and of the sum written once, 2 bytes each, and gamma."""
    m, n = int(problem["M"]), int(problem["N"])
    return 8 * m * n + 2 * n


def written_bytes(problem: Problem) -> int:
    """Of y and of the sum."""
    return 4 * int(problem["M"]) * int(problem["N"])


def mistake(inputs: Mapping[str, Array], outputs: Mapping[str, Array], problem: Problem) -> str | None:
    """What is behind a wrong output: the one formula that gives all of it, or what its wrong rows have in common."""
    with np.errstate(all="ignore"):
        for name, output in outputs.items():
            of_output = _of_sum if name == "sum" else _of_y
            text = of_output(inputs, output.astype(np.float64), problem["eps"])
            if text is not None:
                return text
    return None


def _of_sum(inputs: Mapping[str, Array], out: Exact, eps: float) -> str | None:
    """What is said of a wrong sum. Of these formulas, each element is rounded once or twice, and to the bit."""
    x, residual = (inputs[name].astype(np.float64) for name in ("x", "residual"))
    added, stored = _added(inputs["x"], inputs["residual"])
    if np.array_equal(stored, out, equal_nan=True):
        return None
    m, n = x.shape
    formulas = [
        (_NO_RESIDUAL, x),
        (_NO_X, residual),
        (_SUBTRACTED, x - residual),
        (_SUBTRACTED, residual - x),
        (_ADDED_TWICE, added + residual),
        (_SUM_INDEX, x + residual.ravel()[:n]),
        (_SUM_INDEX, x + residual[:, :1]),
        (_SUM_INDEX, x + residual.reshape(n, m).T),
        (_TWICE, added.astype(np.float16).astype(np.float64)),
        (_CUT, _cut(added)),
    ]
    found = {text for text, gives in formulas if np.array_equal(_rounded(gives), out, equal_nan=True)}
    normal, gamma = _normal_of(stored, eps), inputs["gamma"].astype(np.float64)
    if n > 1 and any(_near(norm, out).all() for norm in (normal, normal * gamma)):
        found.add(_SUM_REPLACED)
    if len(found) == 1:
        return found.pop()
    return _SUM_SWALLOWED if not found and (np.isnan(added) & ~np.isnan(out)).any() else None


def _of_y(inputs: Mapping[str, Array], out: Exact, eps: float) -> str | None:
    """What is said of a wrong y."""
    x, residual, gamma = (inputs[name].astype(np.float64) for name in ("x", "residual", "gamma"))
    added, s = _added(inputs["x"], inputs["residual"])
    right = _normal_of(s, eps) * gamma
    finite = np.isfinite(s).all(axis=1)
    if (np.isnan(right) & ~np.isnan(out)).any():
        return _SWALLOWED if _near(right, out)[finite].all() else None
    over = ~np.isfinite(out) & np.isfinite(right)  # times 0, in a row with an infinity, it is NaN
    if over.any() and (np.abs(s * gamma) > np.finfo(np.float32).max)[over].all():
        return _GAMMA_FIRST
    tells = finite & s.any(axis=1)  # rows of zeros are zeros, whatever they are divided by
    if not tells.any():
        return None
    undue = np.isnan(out) & ~np.isnan(right)
    nan = np.flatnonzero(undue.any(axis=1) & finite)
    if undue[tells].any():
        return _NAN.format(row=nan[0])
    lost = tells & ~out.any(axis=1)
    if lost.any() and _over(s[lost]).all() and not _over(s[tells & ~lost]).any():
        return _HALF_SUM
    cut = _normal_of(_cut(added), eps) * gamma
    if _once(cut[tells], out[tells]) and not _once(right[tells], out[tells]):
        return _SUM_CUT
    if not _once(right[tells], out[tells]) and _in_bf16(s[tells], gamma, eps, out[tells]):
        return _Y_ROUNDED
    if s.shape[1] > 1 and not _near(right, out)[tells].all():
        formulas = [_formulas(x, residual, s, gamma, eps)]
        if s.size <= FEW:
            formulas += [_own_parts(s, gamma, eps), _other_places(s, gamma, eps)]
        found = {text for text, gives in chain(*formulas) if _near(gives, out)[tells].all()}
        if found:
            return found.pop() if len(found) == 1 else None
    said = _of_scales(s, np.where(right == 0.0, np.nan, out / right), tells, eps)
    if said is None and not _near(right, out)[tells].all():
        said = _by_lanes(_near(right, out)[tells]) or _of_gamma(_normal_of(s, eps)[tells], gamma, out[tells])
    return said or (_NAN.format(row=nan[0]) if len(nan) else None)


def _formulas(x: Exact, residual: Exact, s: Exact, gamma: Exact, eps: float) -> Iterator[tuple[str, Exact]]:
    """Mistaken formulas of y with what they give, but for those that divide by another number alone."""
    rows, columns = s.shape
    normal = _normal_of(s, eps)
    root, root_of_x = (np.sqrt((array * array).mean(axis=1, keepdims=True) + eps) for array in (s, x))
    centred = s - s.mean(axis=1, keepdims=True)
    yield _X_ALONE, _normal_of(x, eps) * gamma
    yield _ADDED_AFTER, _normal_of(x, eps) * gamma + residual
    yield _ADDED_AFTER, (_normal_of(x, eps) + residual) * gamma
    yield _ADDED_TWICE, normal * gamma + residual
    yield _ADDED_TWICE, (normal + residual) * gamma
    for twice in (x + 2.0 * residual, s + residual):
        yield _ADDED_TWICE, _normal_of(_rounded(twice), eps) * gamma
    yield _SQUARES_OF_X, s / root_of_x * gamma
    yield _X_DIVIDED, x / root * gamma
    yield _SUM_INDEX, _normal_of(x + residual.ravel()[:columns], eps) * gamma
    yield _SUBTRACTED, _normal_of(x - residual, eps) * gamma
    yield _SUBTRACTED, _normal_of(residual - x, eps) * gamma
    yield _RESIDUAL_ALONE, _normal_of(residual, eps) * gamma
    yield _CENTRED, _normal_of(centred, eps) * gamma
    yield _CENTRED, centred / root * gamma
    yield _NO_GAMMA, normal
    yield _ONE_MORE, normal * (1.0 + gamma)
    yield _DIVIDED_BY_GAMMA, normal / gamma
    yield _BY_ROW, normal * gamma[np.arange(rows)[:, None] % columns]
    yield _COLUMNS, _normal_of(s.T, eps).T * gamma


def _own_parts(s: Exact, gamma: Exact, eps: float) -> Iterator[tuple[str, Exact]]:
    """Of threads that take the sum of their own elements, or of a part of the threads, for that of the row. The part
    is of neighbours, where the sums of such parts are not added up, or of every so-manyth thread."""
    rows, columns = s.shape
    for threads, pack in product(WARPS, (1, 2, 4, 8)):
        if columns % pack or threads // 2 * pack >= max(columns, 32 * pack):
            continue
        turns = -(-columns // (threads * pack))
        squares = np.pad(s * s, ((0, 0), (0, turns * threads * pack - columns)))
        own = squares.reshape(rows, turns, threads, pack).sum(axis=(1, 3))
        for part in GROUPS[: GROUPS.index(threads)]:
            neighbours = np.repeat(own.reshape(rows, -1, part).sum(axis=2), part, axis=1)
            apart = np.tile(own.reshape(rows, -1, part).sum(axis=1), threads // part)
            for of_thread in (neighbours, apart) if 1 < part < WARPS[0] else (neighbours,):
                square = np.tile(np.repeat(of_thread, pack, axis=1), turns)[:, :columns] / columns
                yield _OWN_PART if part == 1 else _PART_OF_THREADS, s / np.sqrt(square + eps) * gamma


def _other_places(s: Exact, gamma: Exact, eps: float) -> Iterator[tuple[str, Exact]]:
    """Of elements that take the mean square of another row, or another gamma."""
    rows, columns = s.shape
    if columns < ENOUGH:
        return
    normal, scale = _normal_of(s, eps), 1.0 / np.sqrt((s * s).mean(axis=1) + eps)
    for other in other_indices(rows, columns, columns):
        yield _BY_ROW if (other == other[:, :1]).all() else _GAMMA_INDEX, normal * gamma[other]
    for other in other_indices(rows, columns, rows) if rows > 1 else ():
        yield _OTHER_ROW, s * scale[other] * gamma


def _in_bf16(s: Exact, gamma: Exact, eps: float, out: Exact) -> bool:
    """Whether y is to the bit what products in BF16 give, of a factor that is rounded as well."""
    square = (s * s).mean(axis=1, keepdims=True)
    for off in (1.0 - ULPS, 1.0 + ULPS):
        root = np.sqrt(square + eps) * off
        under = (_rounded(square * off + eps), _rounded(_rounded(square * off) + eps))
        for factor in (1.0 / root, 1.0 / _rounded(root), *(1.0 / np.sqrt(value) for value in under)):
            scale = _rounded(factor)
            for y in (_rounded(s * scale) * gamma, s * _rounded(scale * gamma), _rounded(s * gamma) * scale):
                if np.array_equal(_rounded(y), out):
                    return True
        if np.array_equal(_rounded(_rounded(s / _rounded(root)) * gamma), out):
            return True
    return False


def _of_scales(s: Exact, ratios: Exact, tells: NDArray[np.bool_], eps: float) -> str | None:
    """What is said where each row is the right one times a number of its own: another one has been divided by."""
    a = np.nanmean(ratios[tells], axis=1)
    if not (np.abs(ratios[tells] / a[:, None] - 1.0) <= NEAR)[~np.isnan(ratios[tells])].all():
        return None
    # The mean of many different roundings is nearly that of none. Elements of an exact row are rounded alike.
    different = [len(np.unique(np.frexp(np.abs(row))[0])) for row in s[tells]]
    allowed = BFLOAT * np.minimum(1.1, 2.5 / np.sqrt(different))
    square = (s * s).mean(axis=1)
    own = square[tells] + eps

    def gives(of_root: Exact) -> bool:
        return bool((np.abs(a * np.sqrt(of_root / own) - 1.0) <= allowed).all())

    if gives(own):
        return None
    found = {text for text, of_root in _roots(s, square, eps) if gives(of_root[tells])}
    if found:
        return found.pop() if len(found) == 1 else None
    least = int(np.argmin(own))
    if own.max() > 4.0 * own[least] and gives(
        own - eps + max(0.0, own[least] / a[least] ** 2 - own[least] + eps)
    ):
        return _OTHER_EPS
    if tells.sum() >= ENOUGH:
        divisors = other_divisors(*s.shape).items()
        known = [name for number, name in divisors if gives((own - eps) * s.shape[1] / number + eps)]
        if len(known) == 1:
            return _DIVISOR.format(number=known[0])
    if any(gives(square[other][tells] + eps) for other in other_rows(len(s))):
        return _OTHER_ROW if tells.sum() >= ENOUGH else None
    if s.size <= FEW and any(gives(of_root[tells] + eps) for of_root in _rounded_sums(s)):
        return _ROUNDED
    differ = np.abs(a - 1.0) > allowed
    if s.shape[1] < ENOUGH or not (own > 1e3 * eps)[differ].any():  # it may be eps
        return None
    large = own > 1e3 * eps
    factors = ((own / (a * a) - eps) / (own - eps))[large]
    factor = float(np.sqrt(factors.min() * factors.max()))
    if gives((own - eps) * factor + eps):
        text = _FACTOR_MANY if tells.sum() >= ENOUGH else _FACTOR
        return text.format(factor=f"{factor:.3g}", other=_SQUARES_MISSING if factor < 1.0 else _SQUARES_TWICE)
    off = a[differ]
    return _TOO_SMALL if (off > 1.0).all() else _TOO_LARGE if (off < 1.0).all() else _SUMS


def _roots(s: Exact, square: Exact, eps: float) -> Iterator[tuple[str, Exact]]:
    """Mistaken formulas of what each row is divided by the root of."""
    rows, columns = s.shape
    yield _STARTER, np.full_like(square, 1.0 + eps)
    yield _STARTER, np.ones_like(square)
    yield _NO_ROOT, (square + eps) ** 2
    yield _MULTIPLIED, 1.0 / (square + eps)
    yield _NO_EPS, square
    yield _EPS_OUTSIDE, (np.sqrt(square) + eps) ** 2
    yield _EPS_BEHIND, 1.0 / (1.0 / np.sqrt(square) + eps) ** 2
    if columns > 2:
        yield _NOT_DIVIDED, square * columns + eps
        yield _NOT_DIVIDED, (square + eps) * columns
    yield _VARIANCE, s.var(axis=1) + eps
    yield _MEAN, s.mean(axis=1) ** 2 + eps
    yield _COLUMNS, (s * s).mean(axis=0)[np.arange(rows) % columns] + eps
    yield _COLUMNS, (s * s).reshape(columns, rows).mean(axis=0) + eps


def _rounded_sums(s: Exact) -> Iterator[Exact]:
    """Mean squares that come of sums in BF16, or in half precision: in a row's threads, or in their tree as well."""
    rows, columns = s.shape
    for dtype, threads in product((ml_dtypes.bfloat16, np.float16), (1, *WARPS)):
        turns = -(-columns // threads)
        squares = np.pad(s * s, ((0, 0), (0, turns * threads - columns))).reshape(rows, turns, threads)
        sums = np.zeros((rows, threads), dtype)
        for turn in range(turns):
            sums = (sums.astype(np.float32) + squares[:, turn].astype(np.float32)).astype(dtype)
        yield sums.astype(np.float64).sum(axis=1) / columns
        of_warps = sums.reshape(rows, -1, min(threads, 32))
        for parts, axes in ((of_warps, (2, 1)), (sums[:, :, None], (1,))):
            for axis in axes:
                while (half := parts.shape[axis] // 2) > 0:
                    first, second = np.split(parts, [half], axis=axis)
                    parts = (first.astype(np.float32) + second.astype(np.float32)).astype(dtype)
            yield parts.reshape(rows).astype(np.float64) / columns


def _by_lanes(right: NDArray[np.bool_]) -> str | None:
    """What is said where of all rows those elements alone are right that lane 0, or thread 0, writes."""
    rows, columns = right.shape
    if rows < ENOUGH or columns < ENOUGH or not right[:, 0].all():
        return None
    first = np.arange(columns) % 32 == 0
    if columns > 32 and right[:, first].all() and 2 * right[:, ~first].sum() < right[:, ~first].size:
        return _LANES
    return _THREAD_0 if 4 * right[:, 1:].sum() < right[:, 1:].size else None


def _of_gamma(normal: Exact, gamma: Exact, out: Exact) -> str | None:
    """What is said where each column is the right one with another one's gamma."""
    if min(out.shape) < ENOUGH:
        return None
    taken = np.nanmean(np.where(normal == 0.0, np.nan, out / normal), axis=0)
    known = (np.abs(taken[:, None] / gamma - 1.0) <= NEAR).any(axis=1)
    return _GAMMA_INDEX if known.all() and _near(normal * taken, out).all() else None


def _near(gives: Exact, out: Exact) -> NDArray[np.bool_]:
    """Which elements a formula gives, but for rounding them twice."""
    return np.isclose(out, gives, rtol=NEAR, atol=TINY, equal_nan=True)


def _once(gives: Exact, out: Exact) -> bool:
    """Whether a formula gives all elements, but for rounding them once, or cutting them off."""
    off = np.abs(gives) - np.abs(out)
    unit = 1.01 * BFLOAT * np.abs(gives) + TINY
    return bool((np.abs(off) <= unit).all() or ((off >= -0.01 * unit) & (off <= 2.0 * unit)).all())


def _over(s: Exact) -> NDArray[np.bool_]:
    """In which rows the sum of the squares is no half."""
    found: NDArray[np.bool_] = (s * s).sum(axis=1) > LARGEST_HALF
    return found


def _rounded(values: Exact) -> Exact:
    return values.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)


def _cut(values: Exact) -> Exact:
    """Without the lower 16 bits of a float."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32).astype(np.float64)


NEAR = 2.5 * BFLOAT
"""A larger difference is a mistake's, and not that of rounding to BF16 twice."""

ENOUGH = 8
"""Rows or columns, to say what they have in common."""

ULPS = 2.0**-21
"""How far a root in single precision may be off, as a share."""

LARGEST_HALF = 65504.0
"""The largest number of half precision."""

FEW = 1 << 18
"""Elements with which long lists of mistakes are tried."""

_Y = "y = sum / sqrt(mean of sum² + eps) * gamma"
_STARTER = (
    "The mean square is not used, or is still 1: it is the mean of sum² over the row. Begin a float with 0, add the "
    "square of each element of the row to it, and divide it by N; the sum is divided by sqrt(mean square + eps)."
)
_NO_ROOT = f"The root is missing: {_Y}."
_MULTIPLIED = f"The sum is multiplied by the root: it is divided by it, {_Y}."
_NO_EPS = "eps is not used: it is added to the mean square, under the root."
_EPS_OUTSIDE = "eps is added to the root: it belongs under it, sqrt(mean of sum² + eps)."
_EPS_BEHIND = "eps is added to 1 / root: it belongs under the root, rsqrtf(mean of sum² + eps)."
_OTHER_EPS = (
    "Another number is added to the mean square than eps, which differs from launch to launch: take the argument, and "
    "add it once, under the root, when the sum of the squares is divided by N."
)
_NOT_DIVIDED = "The sum of the squares is not divided by N: it is their mean that stands under the root."
_DIVISOR = "The sum of the squares is divided by {number}: divide it by N."
_VARIANCE = "The variance stands in the place of the mean square: an RMS norm squares elements as they are."
_MEAN = "The mean is squared: it is the squares that the mean is taken of, add up sum * sum."
_CENTRED = f"The mean is subtracted, as a layer norm does: an RMS norm leaves it where it is, {_Y}."
_COLUMNS = (
    "The mean squares are those of columns: the elements of a row are neighbours, sum[row * N + column]."
)
_X_ALONE = f"y is the norm of x alone: add the residual first, {_Y}, where sum = x + residual."
_RESIDUAL_ALONE = f"y is the norm of the residual alone: {_Y}, where sum = x + residual."
_ADDED_AFTER = f"The residual is added behind the norm: it comes first, {_Y}, where sum = x + residual."
_ADDED_TWICE = f"The residual is added twice: it is in the sum already, {_Y}, where sum = x + residual."
_SQUARES_OF_X = "The mean square is that of x: square x + residual."
_X_DIVIDED = "The mean square is right, but x is divided by its root: divide the sum, x + residual."
_SUBTRACTED = "The residual is subtracted: sum = x + residual."
_SUM_CUT = (
    "The sum that y comes of is cut off in place of rounded, and its elements are too small: __float2bfloat16 rounds "
    "to the nearest; __float2bfloat16_rz, and a shift by 16 bits, do not."
)
_Y_ROUNDED = (
    "y is rounded to BF16 more than once: the factor of the row and the products are BF16. Keep all of them in floats, "
    "and round once, where y is stored."
)
_NO_GAMMA = f"Nothing is multiplied by gamma: {_Y}."
_ONE_MORE = f"1 is added to gamma, as some models have it: here it is the factor as it is, {_Y}."
_DIVIDED_BY_GAMMA = f"gamma divides: it is a factor, {_Y}."
_BY_ROW = "gamma is taken by row: an element of column j takes gamma[j]."
_GAMMA_FIRST = (
    "An element times gamma is more than a float holds, where y is not: divide by the root first, and multiply by "
    "gamma last."
)
_GAMMA_INDEX = "The rest is right: look at the index of gamma. An element of column j takes gamma[j]."
_OTHER_ROW = (
    "The mean square is that of another row: look at the index of the row where its sum is formed, and where it is "
    "stored and read."
)
_ROUNDED = (
    "The sum of the squares is kept in 16 bits, and small squares are lost beside it: BF16 has 8 significant bits, so "
    "that a sum of ones stands still at 256. Keep sums in floats."
)
_HALF_SUM = (
    "Rows whose squares add up to more than 65504 come out as zeros, and no others: that is the largest half, and a "
    "larger sum is infinite. Keep sums in floats."
)
_OWN_PART = (
    "Each thread takes its own part of the sum for that of the row: read the sum where the last step of the tree, or "
    "of the shuffles, has left it."
)
_PART_OF_THREADS = (
    "An element is divided by the root of a part of the row's squares: those of some of the threads that share the "
    "row. Steps are missing where their sums are added up: in a warp, shuffles take the distances 16, 8, 4, 2 and 1; "
    "the sums of several warps are added up in shared memory."
)
_LANES = (
    "Of each row, those elements are right that lane 0 of a warp writes: the other lanes do not have the sum. After "
    "__shfl_down_sync, lane 0 alone has it; __shfl_xor_sync leaves it in every lane, and __shfl_sync passes it on from "
    "lane 0."
)
_THREAD_0 = (
    "Of each row, the first element is right: the thread that writes it has the sum, and the others do not. Let it "
    "store the sum in shared memory, and all threads read it behind a __syncthreads()."
)
_TOO_SMALL = (
    "Rows are right but for their mean squares, which are too small: squares are missing. Look at the tail of the "
    "loop, and at how the threads' sums are added up."
)
_TOO_LARGE = (
    "Rows are right but for their mean squares, which are too large: squares are counted twice, are not the row's, or "
    "the sum did not begin with 0."
)
_FACTOR = (
    "The mean square is {factor} times what it has to be: the sum of the squares is divided by another number than N, "
    "or {other}."
)
_FACTOR_MANY = (
    "The mean square is {factor} times what it has to be, in all rows alike: look at what the sum of the squares is "
    "divided by, and whether each square is added once."
)
_SQUARES_MISSING = (
    "squares are missing: look at the tail of the loop, and at how the threads' sums are added up"
)
_SQUARES_TWICE = "squares are counted twice, are not the row's, or the sum did not begin with 0"
_SUMS = (
    "Rows are right but for their mean squares: their sums have terms missing or too many. Look at where the loop "
    "along the row starts and ends, and at how the threads' sums are added up."
)
_SWALLOWED = (
    "A row with a NaN, or two infinities that cancel, has to become NaN as a whole, and of an infinity NaN comes where "
    "it stands: fmaxf and fminf drop NaN, and a comparison with NaN is false. Leave elements and mean square alone."
)
_NAN = (
    "Row {row} of y has a NaN, and its inputs have none: it comes of 0 / 0, where eps is not added under the root of a "
    "row of zeros; of the root of a negative number; or of memory that nobody has written."
)
_NO_RESIDUAL = "x is stored in the place of the sum: sum = x + residual."
_NO_X = "The residual is stored in the place of the sum: sum = x + residual."
_SUM_REPLACED = (
    "The norm is stored in sum: sum = x + residual, as it is before the norm, and the norm goes to y."
)
_SUM_INDEX = "Look at the index of the residual: x and residual are both taken at row * N + column."
_TWICE = (
    "The sum is rounded twice, to half precision on the way: add floats, and round once, by __float2bfloat16. Halves "
    "have more bits than BF16 and a smaller range."
)
_CUT = (
    "The sum is cut off in place of rounded: __float2bfloat16 rounds to the nearest; __float2bfloat16_rz, and a shift "
    "by 16 bits, do not."
)
_SUM_SWALLOWED = (
    "A NaN is lost in the sum: x + residual is NaN where one of them is, and where infinities cancel. fmaxf and fminf "
    "drop NaN, and rounding by arithmetic on bits has to leave it out."
)


def _added(x: Array, residual: Array) -> tuple[Exact, Exact]:
    """x + residual in float64, and as BF16 stores it. It is rounded to a float on the way, as kernels do."""
    added = x.astype(np.float64) + residual.astype(np.float64)
    with np.errstate(over="ignore"):
        return added, added.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)


def _normal_of(stored: Exact, eps: float) -> Exact:
    """Each row over the root of its mean square plus eps."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Exact = stored / np.sqrt((stored * stored).mean(axis=1, keepdims=True) + eps)
        return found


def _magnitude(y: Exact, stored: Exact) -> Exact:
    """An error bound of rows of y, in units of BFLOAT:

    - y is rounded to BF16, and the normalised element may be before, or the sum may not be: 2 · |y|;
    - if it is not, the mean square is of other elements as well. Each counts by its share of the squares, and errors of
      many cancel: the root of the sum of the squares of shares, twice, and no more than 1;
    - in single precision, a mean square of N terms is rounded by some √N, of which the root takes half, and the product
      by a few units.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = stored * stored
        shares = squares / squares.sum(axis=1, keepdims=True)
        of_mean = np.fmin(1.0, 2.0 * np.sqrt((shares * shares).sum(axis=1, keepdims=True)))
        in_single = SINGLE / BFLOAT * (3.0 * np.sqrt(stored.shape[1]) + 4.0)
        bound: Exact = (2.0 + of_mean + in_single) * np.abs(y) + TINY / BFLOAT
        return bound


def _spikes(shape: tuple[int, int], rng: np.random.Generator) -> Exact:
    rows, columns = shape
    spike = SPIKES[sum(columns > width for width in WIDTHS)]
    values = rng.choice([-1.0, 1.0], shape)
    ends = special.near_the_end(rows, columns, rng)
    ends[min(1, rows - 1)] = columns - 1
    counts = np.minimum(rng.integers(1, 5, rows), columns)
    values[special.places_in_rows(counts, ends, columns, rng)] *= spike
    return values


def _normal(shape: tuple[int, int], rng: np.random.Generator) -> Exact:
    values = rng.standard_normal(shape)
    values[rng.integers(0, 64, shape, dtype=np.int8) == 0] *= 8.0
    return values
