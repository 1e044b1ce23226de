"""The matrix-vector product y = W · x of weights of 4 bits, whose groups share a scale, and halves: inputs, the answer
in float64, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from grader.workbook import special
from grader.workbook.misplaced import WARPS

Words = NDArray[np.uint32]
Halves = NDArray[np.float16]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]
Inputs = Mapping[str, NDArray[np.generic]]

BITS, IN_WORD, GROUP = 4, 8, 128
"""Of a weight; weights of a word, and of a group that shares a scale."""

ZERO = 8
"""The nibble of a weight that is 0: nibble q stands for q - ZERO."""

LARGEST, LARGEST_SCALE = 31, 4
"""Of the integers of exact cases."""

FREE = 4
"""Pairs of a group, in exact cases, whose weights have nothing to do with each other."""

LAMBDA = 6
"""The factor of what the sum may be off by in single precision."""

HALF, SINGLE = 2.0**-11, 2.0**-24
"""Units of rounding of half and of single precision."""

TINY = 2.0**-24
"""The smallest subnormal half."""

STEP = 2.0**-6
"""About what real scales are."""


def make_inputs(
    problem: Mapping[str, int], rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, NDArray[np.generic]]:
    """W (N × K/8 words), scales (N × K/128) and x (K).

    "exact": integers. x are from -LARGEST to LARGEST and scales from -LARGEST_SCALE to LARGEST_SCALE, none of them 0.
    Weights are from -8 to 7. Columns come in pairs, anywhere in their group, whose elements of x are the same and whose
    weights add up to -1, 0 or 1, but are not 0. So a group's sum is small, while that of a part of it is large, and y
    is mostly a number that halves hold. FREE pairs of a group have any weights: with opposite ones alone, as much would
    be added as taken off where 8 is, by mistake, subtracted from some nibbles and added to others. In single precision
    sums are exact up to K = 16,912 in any order. As no product is zero, each dropped or doubled one shows.
    "real": weights as normally distributed numbers are rounded to them, one word in 64 without a bit, which is eight
    weights of -8, and one with eight weights of 0, as one half of a group in 32 has; scales around STEP, of which one
    row in four has the same all along its first half; x normally distributed, one in 16 a zero, one in 64 ten times
    larger, and some of the time as special.of_a_factor makes it.
    """
    rows, columns = problem["N"], problem["K"]
    groups = columns // GROUP
    if kind == "exact":
        weights, x = _pairs(rows, groups, rng)
        scales = _integers((rows, groups), rng, LARGEST_SCALE).astype(np.float16)
    else:
        weights = np.clip(np.rint(rng.normal(0.0, 3.0, (rows, columns))), -ZERO, ZERO - 1).astype(np.int8)
        fate = rng.integers(0, 64, (rows, columns // IN_WORD))
        weights.reshape(rows, -1, IN_WORD)[fate == 0] = -ZERO
        weights.reshape(rows, -1, IN_WORD)[fate == 1] = 0
        weights.reshape(rows, -1, GROUP // 2)[rng.integers(0, 64, (rows, 2 * groups)) == 0] = 0
        scales = (STEP * np.exp(rng.normal(0.0, 0.5, (rows, groups)))).astype(np.float16)
        scales[::4, : groups // 2] = scales[::4, :1]
        x = _normal(columns, rng)
    return {"W": _packed(weights), "scales": scales, "x": x.reshape(columns)}


def special_inputs(problem: Mapping[str, int], rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
    """As "real", with a NaN among the scales of one row in eight, which has to pass into y, and one row whose scales
    are subnormals. Where N leaves a remainder of 2 by 4, x has a NaN, and y is NaN as a whole: also rows whose weights
    are 0 in a stretch around it, or whose scale is. There is no infinity: times a group's sum it is one, and times
    weights that are 0 it is NaN. In some groups x is whole, up to the end of a small type and one beyond."""
    inputs = make_inputs(problem, rng, "real")
    scales = inputs["scales"]
    special.ends_of_types(inputs["x"].reshape(-1, GROUP), rng)
    order = rng.permutation(len(scales))
    scales[order[-1]] = rng.integers(1, 1024, scales.shape[1]) * np.finfo(np.float16).smallest_subnormal
    for row in order[: max(1, len(scales) // 8)]:
        scales[row, rng.integers(scales.shape[1])] = np.nan
    if len(scales) % 4 == 2:
        weights = _nibbles(inputs["W"]).astype(np.int8) - ZERO
        place = special.zeros_in(weights[::3], rng)
        inputs["W"] = _packed(weights)
        scales[1::3, place // GROUP] = 0.0
        inputs["x"][place] = np.nan
    return inputs


def reference(inputs: Inputs, problem: Mapping[str, int]) -> dict[str, Exact]:
    """y (N), float64."""
    return {"y": (_of_groups(inputs["W"], inputs["x"]) * inputs["scales"].astype(np.float64)).sum(axis=1)}


def magnitude(inputs: Inputs, problem: Mapping[str, int]) -> dict[str, Exact]:
    """What errors of y are bounded by, (N), float64: see _magnitude."""
    sums = _of_groups(inputs["W"], np.abs(inputs["x"]), sizes=True)
    sums *= np.abs(inputs["scales"]).astype(np.float64)
    return {"y": _magnitude(reference(inputs, problem)["y"], sums.sum(axis=1), problem["K"])}


def shapes(problem: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    n, k = problem["N"], problem["K"]
    return {"W": (n, k // IN_WORD), "scales": (n, k // GROUP), "x": (k,), "y": (n,)}


def elements(read: Read, problem: Mapping[str, int], name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of the output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array. A word in double precision is exact: it has 32 bits of 53."""
    k = np.arange(problem["K"])
    words, groups = problem["K"] // IN_WORD, problem["K"] // GROUP
    inputs = {
        "W": read("W", places[:, None] * words + k[:words]).astype(np.uint32),
        "scales": read("scales", places[:, None] * groups + k[:groups]),
        "x": read("x", k),
    }
    return reference(inputs, problem)["y"], magnitude(inputs, problem)["y"]


def min_flop(problem: Mapping[str, int]) -> int:
    """Multiplications and additions of N dot products of length K, and a multiplication for each group."""
    return problem["N"] * (2 * problem["K"] - 1 + problem["K"] // GROUP)


def min_bytes(problem: Mapping[str, int]) -> int:
    """W, scales and x read once, y written once: half a byte a weight, 2 bytes any other element."""
    n, k = problem["N"], problem["K"]
    return n * k // 2 + 2 * n * (k // GROUP) + 2 * k + written_bytes(problem)


def written_bytes(problem: Mapping[str, int]) -> int:
    """y."""
    return 2 * problem["N"]


def mistake(inputs: Inputs, outputs: Inputs, problem: Mapping[str, int]) -> str | None:
    """What is behind a wrong y: the one formula that gives all of it, rounded to halves. In exact cases each does so to
    the bit."""
    y = outputs["y"].astype(np.float64)
    nibbles = _nibbles(inputs["W"])
    scales, x = (inputs[name].astype(np.float64) for name in ("scales", "x"))
    with np.errstate(all="ignore"):
        if np.array_equal(_stored(_product(nibbles - ZERO, scales, x)), y, equal_nan=True):
            return None
        found = {
            text
            for text, gives in _formulas(nibbles, scales, x)
            if np.array_equal(_stored(gives), y, equal_nan=True)
        }
    return found.pop() if len(found) == 1 else None


def _stored(sums: Exact) -> Halves:
    return sums.astype(np.float16)


def _product(weights: Exact, scales: Exact, x: Exact) -> Exact:
    """y of unpacked weights."""
    return (weights * np.repeat(scales, GROUP, axis=1)) @ x


def _formulas(nibbles: Exact, scales: Exact, x: Exact) -> Iterator[tuple[str, Exact]]:
    """Mistaken formulas of y with what they give."""
    rows, columns = nibbles.shape
    groups = columns // GROUP
    weights, k = nibbles - ZERO, np.arange(columns)
    yield _NOT_SHIFTED, _product(nibbles, scales, x)
    yield _TWOS_COMPLEMENT, _product(nibbles - 2 * ZERO * (nibbles >= ZERO), scales, x)
    yield _SEVEN, _product(nibbles - ZERO + 1, scales, x)
    yield _EXCHANGED, _product(weights[:, k ^ 1], scales, x)
    yield _REVERSED, _product(weights[:, k ^ IN_WORD - 1], scales, x)
    yield _BYTES_REVERSED, _product(weights[:, k ^ IN_WORD - 2], scales, x)
    yield _BY_FOUR, _product(weights, scales, x[k // 8 * 8 + k % 2 * 4 + k % 8 // 2])
    yield _BY_FOUR, _product(weights, scales, x[k // 8 * 8 + k % 8 // 4 + k % 4 * 2])
    yield _X_BY_WORDS, _product(weights, scales, x[k // IN_WORD + k % IN_WORD])
    yield (
        _W_BY_COLUMNS,
        _product(
            weights.reshape(columns // IN_WORD, rows, IN_WORD).swapaxes(0, 1).reshape(rows, columns),
            scales,
            x,
        ),
    )
    yield _SCALES_BY_COLUMNS, _product(weights, scales.reshape(groups, rows).T, x)
    flat = scales.reshape(-1)
    for text, other in (
        (_NEXT_GROUP, np.roll(flat, -1).reshape(scales.shape)),
        (_NEXT_GROUP, np.roll(scales, -1, axis=1)),
        (_PREVIOUS_GROUP, np.roll(flat, 1).reshape(scales.shape)),
        (_PREVIOUS_GROUP, np.roll(scales, 1, axis=1)),
        (_ONE_GROUP.format(which="first"), np.repeat(scales[:, :1], groups, axis=1)),
        (_ONE_GROUP.format(which="last"), np.repeat(scales[:, -1:], groups, axis=1)),
        (_ONE_ROW, np.repeat(scales[:1], rows, axis=0)),
        (_NO_SCALE, np.ones_like(scales)),
    ):
        yield text, _product(weights, other, x)
    for whole in {columns // step * step for step in STEPS} - {0, columns}:
        text = _TAIL.format(whole=whole, columns=columns, rest=columns - whole)
        yield text, _product(weights * (k < whole), scales, x)
    for width in WIDTHS:
        for threads in WARPS:
            for text, own in ((_FIRST_WARP, LANES), (_FIRST_LANE, 1)):
                yield text, _product(weights * (k // width % threads < own), scales, x)


WIDTHS = (1, IN_WORD, 4 * IN_WORD)
"""Weights that a thread loads at once."""

STEPS = tuple(GROUP << power for power in range(1, 8))
"""Weights that a warp or a block takes at once."""

LANES = 32
"""Of a warp."""

_NOT_SHIFTED = "y is the sum of scale * q * x: 8 is not subtracted. Nibble q stands for q - 8."

_TWOS_COMPLEMENT = (
    "Nibbles are taken to be numbers in two's complement, from 0 to 7 and from -8 to -1. Nibble q stands for q - 8: "
    "mask it with 15, and subtract 8."
)

_SEVEN = "7 is subtracted from each nibble in place of 8. Nibble q stands for q - 8."

_EXCHANGED = (
    "The two nibbles of each byte are exchanged. The lower one comes first: element k of a row has the bits from "
    "4 * (k % 8) on of word k / 8."
)

_REVERSED = (
    "The nibbles of each word are taken in reverse. Element k of a row has the bits from 4 * (k % 8) on of word "
    "k / 8: the first is the lowest."
)

_BYTES_REVERSED = (
    "The bytes of each word are taken in reverse. Element k of a row has the bits from 4 * (k % 8) on of word k / 8: "
    "the first is the lowest."
)

_BY_FOUR = (
    "Weights meet the wrong elements of x, within each eight of them. With the mask 0x000f000f a pair of halves has "
    "elements i and i + 4 of a word, and not neighbours."
)

_X_BY_WORDS = (
    "x is read from the number of the word on, as if a word had one weight. Word j of a row goes with x[8 * j] to "
    "x[8 * j + 7]."
)

_W_BY_COLUMNS = "W is taken to be column-major. It is row-major: word j of row n is W[n * (K / 8) + j]."

_SCALES_BY_COLUMNS = (
    "scales is taken to be column-major. It is row-major: the scale of group g of row n is "
    "scales[n * (K / 128) + g]."
)

_NEXT_GROUP = "Each group has the scale of the next one. Element k of a row belongs to group k / 128."

_PREVIOUS_GROUP = (
    "Each group has the scale of the one before it. Element k of a row belongs to group k / 128."
)

_ONE_GROUP = (
    "All groups of a row have the scale of its {which} one. Element k of a row belongs to group k / 128: multiply the "
    "sum of each group by its own scale, before groups are added up."
)

_ONE_ROW = (
    "All rows have the scales of the first one. The scale of group g of row n is scales[n * (K / 128) + g]."
)

_NO_SCALE = "The scales are left out. Multiply the sum of each group by scales[n * (K / 128) + g]."

_TAIL = (
    "y is the sum over the first {whole} of {columns} elements of a row: the last {rest} are left out. Go on up to K, "
    "with a loop whose condition compares the index itself with the end of the row."
)

_FIRST_WARP = (
    "y is what the first warp of a row has added up: the sums of the other warps are missing. Let lane 0 of each warp "
    "store its sum in shared memory, and add them up behind a __syncthreads()."
)

_FIRST_LANE = (
    "y is what the first thread of a row has added up: the sums of the others are missing. Add up those of a warp by "
    "__shfl_down_sync, with distances of 16, 8, 4, 2 and 1."
)


def _magnitude(y: Exact, sums: Exact, k: int) -> Exact:
    """An error bound, in units of HALF, where `sums` are Σ|w·x|, w being scale · (q - 8):

    - y is rounded to half precision once: |y|, or half the distance between subnormals;
    - in single precision w is exact, having 15 significant bits, and so is (q - 8) · x. Roundings are those of w · x,
      or of a group's sum times its scale, and of K additions: λ · √K units of SINGLE of Σ|w·x|, as gemv allows.
    """
    with np.errstate(invalid="ignore"):
        bound: Exact = np.abs(y) + TINY / HALF + SINGLE / HALF * LAMBDA * np.sqrt(k) * sums
        return bound


def _nibbles(words: NDArray[np.generic]) -> Exact:
    """Nibbles of all words, in the order of the elements that they are."""
    shifts = BITS * np.arange(IN_WORD, dtype=np.uint32)
    nibbles = words[:, :, None] >> shifts & np.uint32(15)
    return nibbles.reshape(len(words), -1).astype(np.float64)


def _packed(weights: NDArray[np.int8]) -> Words:
    """Words of weights from -8 to 7."""
    nibbles = (weights + ZERO).astype(np.uint32).reshape(len(weights), -1, IN_WORD)
    shifts = BITS * np.arange(IN_WORD, dtype=np.uint32)
    return np.bitwise_or.reduce(nibbles << shifts, axis=2)


def _of_groups(words: NDArray[np.generic], x: NDArray[np.generic], sizes: bool = False) -> Exact:
    """Of each group of each row Σ (q - 8) · x, or Σ |q - 8| · x: the weights that have the same place in their words
    at a time, for all of them together take eight times as much memory."""
    rows, groups = len(words), len(x) // GROUP
    inputs = x.astype(np.float64).reshape(groups, GROUP // IN_WORD, IN_WORD)
    found = np.zeros((rows, groups))
    for place in range(IN_WORD):
        weights = (words >> np.uint32(BITS * place) & np.uint32(15)).astype(np.float64)
        weights -= ZERO
        if sizes:
            np.abs(weights, out=weights)
        found += np.einsum("ngw,gw->ng", weights.reshape(rows, groups, -1), inputs[:, :, place])
    return found


def _pairs(rows: int, groups: int, rng: np.random.Generator) -> tuple[NDArray[np.int8], Halves]:
    x = _integers((groups, GROUP), rng, LARGEST)
    order = rng.permuted(np.tile(np.arange(GROUP), (groups, 1)), axis=1)
    one, other = order[:, : GROUP // 2], order[:, GROUP // 2 :]
    group = np.arange(groups)[:, None]
    x[group, other] = x[group, one]
    weights = np.empty((rows, groups, GROUP), np.int8)
    first, other_weights = (_integers((rows, groups, count), rng, ZERO - 1) for count in (GROUP // 2, FREE))
    first[rng.integers(0, 15, first.shape, dtype=np.int8) == 0] = -ZERO
    opposite = rng.integers(-1, 2, first.shape, dtype=np.int8) - first
    opposite[opposite == 0] = -first[opposite == 0]
    opposite[:, :, :FREE] = other_weights
    weights[:, group, one] = first
    weights[:, group, other] = np.clip(opposite, -ZERO, ZERO - 1)
    return weights.reshape(rows, -1), x.astype(np.float16)


def _integers(shape: tuple[int, ...], rng: np.random.Generator, largest: int) -> NDArray[np.int8]:
    sizes = rng.integers(1, largest + 1, shape, dtype=np.int8)
    signs = 2 * rng.integers(0, 2, shape, dtype=np.int8) - 1
    return (sizes * signs).astype(np.int8)


def _normal(count: int, rng: np.random.Generator) -> Halves:
    values = rng.standard_normal(count, dtype=np.float32)
    fate = rng.integers(0, 64, count, dtype=np.int8)
    values[fate < 4] = 0.0
    values[fate == 63] *= 10.0
    special.of_a_factor(values[None], rng)
    return values.astype(np.float16)
