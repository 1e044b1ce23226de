"""What references of attention have in common: softmax(scale · q · kᵀ) · v of some queries over some keys, how far
kernels may be off, and inputs whose answers are exact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Drawn = tuple[NDArray[np.number], NDArray[np.number], NDArray[np.number]]

LAMBDA = 6
"""The factor of what sums may be off by in single precision."""

HALF, SINGLE = 2.0**-11, 2.0**-24
"""Units of rounding of half and of single precision."""

TINY = 2.0**-24
"""The smallest subnormal half."""

STEP = 256
"""exp(-STEP) is zero in float32, also as a subnormal. Where scores are multiplied twice by a scale of 1/8 or so, it is
at least zero in a half: real cases tell that."""

GROUPS = 8
"""Of keys, in exact cases, each with a direction of its own."""

LARGEST = 2047
"""Of the integers that a half holds one by one."""

LEVELS = 3
"""Keys of a group are up to so many times as long as the shortest."""

VALUES = 2, 96
"""Between these lie the integers of V, negative in some columns: sums soon are more than a half counts, and
nothing cancels."""

BITS = 4
"""Behind the point, that a half has for a mean of such integers."""

COMMON, FAR = 200.0, 20_000.0
"""What the scores of a query have in common, some of the time: more than exp() stands; and in special cases, more than
numbers that people take for -∞."""

STARTS = 0.0, -100.0, -1e3, -1e4
"""With which a running maximum begins by mistake."""

LOST, SUBNORMAL = -104.0, -86.0
"""exp() of what is smaller than the first is zero in float32; between them it is a subnormal, or zero as well."""


class Attended(NamedTuple):
    """Some queries and all keys that may count for one of them, in float64."""

    queries: Exact  # by query: D numbers
    keys: Exact  # by key: D numbers
    values: Exact  # by key: all columns of V, or some
    counts: NDArray[np.bool_]  # by query and key: which keys count
    scale: float

    @property
    def scores(self) -> Exact:
        """-∞ for keys that do not count."""
        with np.errstate(invalid="ignore"):
            return np.where(self.counts, self.scale * (self.queries @ self.keys.T), -np.inf)

    @property
    def outputs(self) -> Exact:
        p, _ = _softmax(self.scores)
        return p @ self.values

    @property
    def magnitude(self) -> Exact:
        """An error bound of each output o = Σ p·v, in units of HALF:

        - o is rounded to half precision once: |o|, or half the distance between subnormals;
        - so is each p, before it meets v in a Tensor Core: Σ p·|v|, or for subnormals half their distance, Σ |v|;
        - a score is the sum of D products in single precision: off by λ · √D units of SINGLE of scale · Σ|q·k|. The
          difference of the maximum m and a number that is rounded is off by |m| such units. As an exponent, either
          changes p by this share of it, and the sum that all are divided by by p times this share: Σ p·e·(|v| + |o|);
        - terms are added up in single precision, one for each key, for o as for what it is divided by: λ · √keys units
          of SINGLE of Σ p·|v| and |o|.
        """
        with np.errstate(invalid="ignore"):
            p, largest = _softmax(self.scores)
            absolute = np.abs(self.values)
            outputs, sums = np.abs(p @ self.values), p @ absolute
            products = np.abs(self.queries) @ np.abs(self.keys).T
            products = np.where(self.counts, self.scale * products, 0.0)
            size = self.queries.shape[1]
            exponents = SINGLE * LAMBDA * (np.sqrt(size) * products + np.abs(largest)) * p
            shares = exponents @ absolute + exponents.sum(axis=1, keepdims=True) * outputs
            added = SINGLE * LAMBDA * np.sqrt(len(self.keys)) * (sums + outputs)
            tiny = TINY / 2 * (1.0 + self.counts.astype(np.float64) @ np.nan_to_num(absolute))
            bound: Exact = outputs + sums + (shares + added + tiny) / HALF
            return bound


def _softmax(scores: Exact) -> tuple[Exact, Exact]:
    """The softmax of each row, and the row's largest element."""
    with np.errstate(invalid="ignore"):
        largest = scores.max(axis=1, keepdims=True)
        terms = np.exp(scores - largest)
        return terms / terms.sum(axis=1, keepdims=True), largest


def begun_with(start: float, largest: Exact, right: Exact, lost: float) -> Exact:
    """What comes out of a maximum that begins with a number, by the largest scores: `right` where they are not much
    smaller, `lost` where all exponentials are 0, and ∞ between, which stands for anything."""
    return np.where(largest < start + LOST, lost, np.where(largest < start + SUBNORMAL, np.inf, right))


def mistaken_scales(scale: float, size: int) -> Iterator[tuple[str, float]]:
    """By what scores of `size` products are multiplied in place of `scale`, with what is said of it."""
    for text, other in (
        (NOT_SCALED, 1.0),
        (SCALED_TWICE, scale**2),
        (INVERSE, 1.0 / scale),
        (OWN_SCALE, float(np.float32(size**-0.5))),
    ):
        if other != scale:
            yield text, other


def exact(
    queries: int, keys: int, size: int, scale: float, rng: np.random.Generator, causal: bool = False
) -> Drawn:
    """Queries, keys and values of `size` numbers, integers whose answer is a half.

    The largest score of a query is exactly 0, all others are -STEP at most: terms are 1 or 0. Of those that are 1 there
    are 2^k, and an output is the mean of as many integers of V, which a half holds: terms that are off by less than
    2^-12, as those of queries that are multiplied by scale beforehand, in floats, round to it as well. Keys come in
    groups, whose rows are multiples of one row of a Hadamard matrix and at right angles to those of other groups. A
    query is the opposite of all groups but one, whose keys have scores of 0, sums of products that are not 0.
    """
    group = _groups(keys, rng)
    directions = _hadamard(size)[rng.choice(np.arange(1, size), GROUPS, replace=False)]
    drawn = rng.integers(1, LEVELS + 1, (keys, 1)) * directions[group]
    own = (group[:, None] == np.arange(GROUPS)).astype(np.int64)  # by key and group
    counts = np.cumsum(own, axis=0) if causal else np.broadcast_to(own.sum(axis=0), (queries, GROUPS))
    powers = (counts > 0) & (counts & (counts - 1) == 0) & (np.arange(GROUPS) > 0)
    chosen = (rng.random(counts.shape) * powers).argmax(axis=1)  # by query: a group with 2^k keys that count
    apart = max(1, min(int(np.ceil(STEP / (size * scale))), LARGEST // GROUPS))
    opposite = -apart * (directions.sum(axis=0) - directions[chosen])
    return opposite, drawn, _values(group, size, rng)


def _values(group: Places, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Integers by key, whose mean over the first 2^k keys of a group a half holds, for each k."""
    integers = rng.integers(VALUES[0], VALUES[1] + 1, (len(group), size))
    found: NDArray[np.int64] = integers * rng.choice((-1, 1), size)
    for number in range(GROUPS):
        own = np.flatnonzero(group == number)
        for k in range(BITS + 1, len(own).bit_length()):
            too_much = found[own[: 1 << k]].sum(axis=0) % (1 << k - BITS)
            second_half = own[1 << k - 1 : 1 << k]
            found[second_half] -= np.arange(len(second_half))[:, None] < too_much
    return found


def _groups(length: int, rng: np.random.Generator) -> Places:
    """The group of each key. Groups have 2^k keys, anywhere; the first key, which counts for every query, is one of its
    own. Group 0 has those that are left over."""
    group = np.zeros(length, np.int64)
    group[:1] = 1
    rest = rng.permutation(np.arange(1, length))
    for number in range(2, GROUPS):
        if len(rest) == 0:
            break
        count = 1 << int(rng.integers(len(rest).bit_length()))
        group[rest[:count]], rest = number, rest[count:]
    return group


def _hadamard(size: int) -> NDArray[np.int64]:
    """Rows of 1 and -1, each at right angles to all others."""
    found = np.ones((1, 1), np.int64)
    while len(found) < size:
        found = np.block([[found, found], [found, -found]])
    return found


def real(
    queries: int, keys: int, size: int, scale: float, rng: np.random.Generator, common: float = COMMON
) -> Drawn:
    """Queries, keys and values of `size` numbers, normally distributed. Some queries are ten times larger, so that
    scores are far apart. One time in three the scores of a query have something in common, about `common` or its
    opposite. Columns of V have means of their own."""
    of_queries = rng.standard_normal((queries, size))
    of_keys, values = (rng.standard_normal((keys, size)) for _ in range(2))
    of_queries[rng.integers(0, 8, queries) == 0] *= 10.0
    if rng.integers(3) == 0:
        # What all keys have in common adds as much to each of a query's scores.
        shared = rng.standard_normal(size) * np.sqrt(common / (scale * size))
        of_keys += shared
        of_queries += rng.choice([-1, 1], (queries, 1)) * shared
    values += rng.standard_normal(size) + 1.0
    return of_queries, of_keys, values


ROOM = 4.0
"""Times the error bound: a mistake's outputs are told from others by far more."""


def near(outputs: Exact, gives: Exact, bound: Exact) -> bool:
    """Whether a formula gives these outputs; where it gives none, anything will do."""
    allowed = 2 * TINY + ROOM * HALF * (np.nan_to_num(bound) + np.abs(gives))
    unknown = ~np.isfinite(gives)
    return bool((unknown | (np.abs(outputs - gives) <= allowed)).all()) and not unknown.all()


LATE_MAXIMUM = (
    "The running maximum begins with a number to which all scores of some queries are small: their exponentials are 0. "
    "Let it begin with -INFINITY."
)
NOT_DIVIDED = "O is Σ exp(score - max) · V as it is. It has to be divided by Σ exp(score - max)."
KEYS_AS_VALUES = "Rows of K are summed in place of those of V."
NOT_SCALED = "The scores are not multiplied by scale."
SCALED_TWICE = (
    "The scores are multiplied by scale twice: is Q multiplied by it when it is loaded, and the score again?"
)
INVERSE = "The scores are divided by scale, and not multiplied by it."
OWN_SCALE = "The scores are multiplied by 1 / √D. They are multiplied by scale, which may be another number."
"""What is behind a wrong output, of attention and of decode."""
