"""The softmax of each row of a matrix: inputs, the answers, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]

LARGE = (4.5, 8.0)
"""Powers of ten that logits may be away from 0: exponents as powers of two are rounded by less than 16 there, which
numerator and sum have in common."""

STEP = 128
"""exp(-STEP), 2.6e-56, is zero in float32, also as a subnormal."""

LAMBDA = 6
"""The factor of the tolerance in topic.toml."""

MOST_BITS = 15
"""So many of 2^k elements on the highest stair that one more or less shows beyond what exact cases allow."""

TINY = 2.0**-126 * 2.0**24
"""Times the unit of rounding it is the smallest normal float: below it, a result may be flushed to zero."""


def make_inputs(
    problem: Mapping[str, int], rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """in (M × N), float32.

    "exact": logits on stairs that are STEP apart, at most 8 of them, and -∞, so that exp(x - max) is 1 or 0. The
    highest stair has 2^k elements, anywhere in the row: each of them has exactly 2^-k, and all others 0. It is at 0,
    so that powers of two, of x · log2 e - max · log2 e, are exact as well.
    "real": normally distributed about a number of the row's own, from -1000 to 1000, which only a subtracted maximum
    makes harmless; one in 64 five times as far from it. Of 16 rows, two are masked (-∞) from some element on, one up
    to some element, two here and there, and where there are more than two rows, one is masked as a whole. In one of
    16, all logits are nearly the same.
    """
    shape = problem["M"], problem["N"]
    return {"in": _stairs(shape, rng) if kind == "exact" else _normal(shape, rng)}


def special_inputs(problem: Mapping[str, int], rng: np.random.Generator) -> dict[str, Array]:
    """As "real", with a NaN in one row in eight, which passes into the whole row. Of the others, some lie LARGE away
    from 0, in some all logits are the same, in some they rise or fall all along the row, and in some the first one or
    the last one lies far above the rest. None is +∞: its row is NaN by the definition, and by the online form, which
    never computes the exponential of a single maximum, NaN and zeros."""
    inputs = make_inputs(problem, rng, "real")
    matrix = inputs["in"]
    rows, columns = matrix.shape
    order = rng.permutation(rows)
    count = max(1, rows // 8)
    for row in order[count : 3 * count]:
        matrix[row] += rng.choice([-1, 1]) * 10 ** rng.uniform(*LARGE)
    matrix[order[2 * count : 3 * count]] = matrix[order[2 * count : 3 * count], :1]
    slopes = rng.choice([-1, 1], (len(order[3 * count : 4 * count]), 1))
    matrix[order[3 * count : 4 * count]] += slopes * np.linspace(-50, 50, columns, dtype=np.float32)
    for row in order[4 * count : 5 * count]:
        matrix[row, rng.choice([0, -1])] = matrix[row].max() + rng.choice([20, 200])
    for row in order[:count]:
        matrix[row, rng.integers(columns)] = np.nan
    return inputs


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """out (M × N), float64. A row that is masked as a whole is NaN, as it is in PyTorch."""
    return {"out": _softmax(inputs["in"])[0]}


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """What rounding errors are proportional to, (M × N), float64, for p = exp(x - m) / Σ exp(x - m).

    Rounding x - m changes the exponential by a share of |x - m| times the unit of rounding, in the numerator as in
    each term of the sum, where the shares are weighted by the terms: p·(1 + |x - m| + Σ p·|x - m|). The last factor,
    1 + √N / λ, makes of λ·√N, for roundings that partly cancel, λ·√N + N, the worst case of N additions: once a large
    term is in a sum, small ones are rounded away, all in one direction.
    """
    p, distance = _softmax(inputs["in"])
    spread = (p * distance).sum(axis=1, keepdims=True)
    return {"out": _magnitude(p, distance, spread, problem["N"])}


def shapes(problem: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    shape = problem["M"], problem["N"]
    return {"in": shape, "out": shape}


def elements(read: Read, problem: Mapping[str, int], name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of the output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    n = problem["N"]
    rows, which = np.unique(places // n, return_inverse=True)
    row_p, row_distance = _softmax(read("in", rows[:, None] * n + np.arange(n)))
    spread = (row_p * row_distance).sum(axis=1)[which]
    p, distance = row_p[which, places % n], row_distance[which, places % n]
    return p, _magnitude(p, distance, spread, n)


def min_flop(problem: Mapping[str, int]) -> int:
    """A subtraction and a multiplication an element, and the additions of the sums; exponentials are not counted."""
    return problem["M"] * (3 * problem["N"] - 1)


def min_bytes(problem: Mapping[str, int]) -> int:
    """Every element read once and written once, 4 bytes each."""
    return 8 * problem["M"] * problem["N"]


def mistake(
    inputs: Mapping[str, Array], outputs: Mapping[str, Array], problem: Mapping[str, int]
) -> str | None:
    """What is behind a wrong output: the formula that gives all of it, or else what its first wrong row shows."""
    logits, out = inputs["in"].astype(np.float64), outputs["out"].astype(np.float64)
    right = _softmax(logits)[0]
    wrong = ~_equal(out, right)
    if not wrong.any():
        return None
    return _of_formula(logits, out, right) or _of_rows(logits, out, right, wrong.any(axis=1))


def _of_formula(logits: Exact, out: Exact, right: Exact) -> str | None:
    """The one mistaken formula that gives every element of the output; None where several do, as for a single row."""
    largest = logits.max(axis=1, keepdims=True)
    formulas = (
        (_NO_MAXIMUM, _quotients(logits)),
        (_FROM_ZERO, _quotients(logits - np.maximum(largest, 0.0))),
        (_OF_ITSELF, _quotients(logits - logits)),
        (_WRONG_SIGN, _quotients(largest - logits)),
        (_NOT_DIVIDED, np.exp(logits - largest)),
        (_COLUMNS, _softmax(logits.T)[0].T),
    )
    found = [text for text, gives in formulas if _gives(gives, out) and not _gives(gives, right)]
    return found[0] if len(found) == 1 else None


def _gives(gives: Exact, out: Exact) -> bool:
    return bool((_equal(out, gives) | (gives == ANYTHING)).all())


def _quotients(exponents: Exact) -> Exact:
    """exp(exponents) / Σ exp(exponents) with terms and sums that become zero and infinite where float32 does."""
    terms = np.exp(exponents).astype(np.float32)
    sums = terms.sum(axis=1, keepdims=True)
    quotients: Exact = (terms / sums).astype(np.float64)
    quotients[((sums > 0.0) & (sums < SMALLEST_NORMAL))[:, 0]] = (
        ANYTHING  # 1 / sum may be infinite, terms / sum not
    )
    return quotients


def _of_rows(logits: Exact, out: Exact, right: Exact, wrong: NDArray[np.bool_]) -> str | None:
    """What wrong rows show: sums that differ, or by the first of them NaN where there should be none, the reverse, or a
    wrong sum."""
    if any(map(_by_several_sums, out[wrong], right[wrong])):
        return _SUMS_DIFFER
    row = int(np.argmax(wrong))
    masked = (logits == -np.inf).any(axis=1)
    if np.isnan(right[row]).all():
        return _MASKED_WHOLE if (logits[row] == -np.inf).all() else _SWALLOWED
    if np.isnan(out[row]).any():
        return _PARTLY_MASKED if masked[wrong].all() and not masked.all() else _NAN.format(row=row)
    if not out[row].any():
        return _ZEROS
    return _of_sums(out[wrong], right[wrong])


def _of_sums(out: Exact, right: Exact) -> str | None:
    """Whether wrong rows, more than one element of them, are right but for what they are divided by."""
    factors = out.sum(axis=1, keepdims=True)  # for that of `right` is 1
    if (right > NEGLIGIBLE).sum() == 1 or not _equal(out, factors * right).all():
        return None
    if (factors > 1.0).all():
        return _SUM_TOO_SMALL
    return _SUM_TOO_LARGE if (factors < 1.0).all() else None


def _by_several_sums(out: Exact, right: Exact) -> bool:
    """Whether the largest elements of a row, all the same in exact cases, are divided by different whole numbers."""
    terms = right > NEGLIGIBLE
    if not terms.any() or np.ptp(right[terms]) > 0.0 or not (out[terms] > 0.0).all():
        return False
    sums = 1.0 / out[terms]
    return bool(np.ptp(sums) >= 1.0 and _equal(sums, np.rint(sums)).all())


def _equal(a: Exact, b: Exact) -> NDArray[np.bool_]:
    """Where two outputs are the same but for rounding."""
    return np.isclose(a, b, rtol=NEAR, atol=NEGLIGIBLE, equal_nan=True)


NEAR = 1e-3
"""A larger relative difference is a mistake's, and not that of rounding."""

ANYTHING = -1.0
"""In the place of what a formula gives, where that depends on how it is computed; no softmax is negative."""

SMALLEST_NORMAL = 2.0**-126
"""Of float32."""

NEGLIGIBLE = 1e-30
"""Elements that are smaller tell no mistake."""

_COLUMNS = "The softmax was taken along columns: the elements of a row are neighbours in memory, in[row * N + column]."
_NO_MAXIMUM = (
    "The maximum of the row is not subtracted: exp(x) overflows above x = 88.72, and below -104 all terms are zero. "
    "exp(x - max) / Σ exp(x - max) is the same number, and its largest term is 1."
)
_FROM_ZERO = (
    "The maximum of a row of negative numbers is taken to be 0, so that all terms may become zero: let the search "
    "begin with -FLT_MAX, -INFINITY or an element of the row. FLT_MIN is the smallest positive number."
)
_WRONG_SIGN = (
    "The difference has the wrong sign: it is exp(x - max), which is 1 at most, and not exp(max - x)."
)
_OF_ITSELF = (
    "All elements of a row are the same: what is subtracted from each is a maximum of its thread's own elements, and "
    "has to be that of the row, which all threads of the row share."
)
_NOT_DIVIDED = (
    "Each element is exp(x - max) as it is. It has to be divided by the sum of all N terms, to which those that are as "
    "large as the maximum belong."
)
_SUM_TOO_SMALL = (
    "Every element of the row is too large by one and the same factor: terms are missing in the sum that it is "
    "divided by, or the sum was scaled wrongly. Look at the tail of the loop, at how partial sums are merged, and at "
    "the factor exp(old maximum - new maximum), by which a sum is multiplied when the maximum grows."
)
_SUMS_DIFFER = (
    "Elements of one row are divided by different sums: threads that share a row do not all have its total. After "
    "__shfl_down_sync, lane 0 alone has it; __shfl_xor_sync leaves it in every lane, and one lane's value passes to "
    "the others through __shfl_sync, or through shared memory with a barrier behind the store."
)
_SUM_TOO_LARGE = (
    "Every element of the row is too small by one and the same factor: the sum that it is divided by has terms too "
    "many, or was not scaled down. When a larger maximum comes, the sum so far has to be multiplied by exp(old maximum "
    "- new maximum), as has every partial sum that is merged; and what lies beyond the end of the row must count as "
    "-∞, not as 0, whose exponential is not zero."
)
_ZEROS = (
    "A row comes out as zeros: its sum is infinite, or all its terms are zero, because what is subtracted is not the "
    "maximum of the row. What lies beyond the end of a row must count as -∞, not as 0, which is larger than all "
    "elements of some rows."
)
_NAN = (
    "Row {row} of the result has a NaN, and its inputs have none: it comes of ∞ / ∞ or 0 / 0, where what is subtracted "
    "is not the maximum of the row; of ∞ · 0, where the factor of a sum is not exp(old maximum - new maximum); of "
    "-∞ - (-∞), where elements are masked; or of memory that nobody has written."
)
_PARTLY_MASKED = (
    "Rows with masked elements (-∞) come out as NaN, and no others: -∞ - (-∞) is NaN. A thread or a tile that has "
    "seen nothing but masked elements has the maximum -∞; let it begin with -FLT_MAX, or subtract 0 instead."
)
_MASKED_WHOLE = (
    "A row that is masked as a whole (every element -∞) has no softmax: it is 0 / 0, NaN, as in PyTorch. Let it come "
    "out as that: no case of its own, and no sum that is kept from being 0."
)
_SWALLOWED = (
    "A NaN in a row makes the whole row NaN. fmaxf drops NaN; the exponential of one has to get into the sum. And a "
    "comparison with NaN is false."
)


def _magnitude(p: Exact, distance: Exact, spread: Exact, columns: int) -> Exact:
    return p * (1.0 + distance + spread) * (1.0 + np.sqrt(columns) / LAMBDA) + TINY


def _softmax(logits: NDArray[np.floating]) -> tuple[Exact, Exact]:
    """p and |x - max| of each row, float64; where p is 0, the distance does not matter and is 0."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        x = logits.astype(np.float64)
        distance = x.max(axis=1, keepdims=True) - x
        terms = np.exp(-distance)
        p = terms / terms.sum(axis=1, keepdims=True)
        return p, np.where(terms == 0.0, 0.0, distance)


def _stairs(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    rows, columns = shape
    stairs = min(8, columns)
    stair = rng.integers(1, stairs + 1, shape, dtype=np.int8)  # below the highest
    stair.sort(axis=1)
    stair[::2] = stair[::2, ::-1]  # every other row rises, so that its maximum grows again and again
    values = -STEP * stair.astype(np.float32)
    values[rng.integers(0, 16, shape, dtype=np.int8) == 0] = -np.inf
    counts = 1 << rng.integers(0, min(columns.bit_length(), MOST_BITS + 1), rows)
    if rows > columns:  # many short rows at once
        order = rng.permuted(np.broadcast_to(np.arange(columns), shape), axis=1)
        values[order < counts[:, None]] = 0.0
        return values
    for row, count in enumerate(counts):
        values[row, rng.choice(columns, count, replace=False, shuffle=False)] = 0.0
    return values


def _normal(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    rows, columns = shape
    values = rng.standard_normal(shape, dtype=np.float32)
    values[rng.integers(0, 64, shape, dtype=np.int8) == 0] *= 5
    values += rng.uniform(-1000, 1000, (rows, 1)).astype(np.float32)
    fates = rng.integers(0, 16, rows)
    for row, fate in enumerate(fates):
        at = int(rng.integers(columns))
        if fate < 2:
            values[row, at + 1 :] = -np.inf
        elif fate == 2:
            values[row, :at] = -np.inf
        elif fate < 5:
            masked = rng.integers(0, 2, columns, dtype=np.int8) == 1
            masked[at] = False
            values[row, masked] = -np.inf
    if rows > 2:
        values[rng.integers(rows)] = -np.inf
    for near in np.flatnonzero((fates == 5) & np.isfinite(values).all(axis=1)):
        values[near] = rng.uniform(-1, 1) + 10 ** rng.uniform(-5, -3) * rng.standard_normal(columns)
    return values
