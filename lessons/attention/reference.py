"""Attention of halves, O = softmax(scale · Q · Kᵀ) · V for each head: inputs, the answer in float64, and what no
algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grader.workbook import attended
from grader.workbook.attended import FAR, HALF, ROOM, Attended, Drawn, near

Number = int | float
Problem = Mapping[str, Number]
Array = NDArray[np.float16]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]

ROWS = 1 << 20
"""Scores of some rows that are made at a time, at most."""


def make_inputs(
    problem: Problem, rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """Q, K and V, each B × H × S × D, float16.

    "exact": as attended.exact() draws heads; "real": as attended.real() does.
    """
    draw = partial(attended.exact, causal=bool(problem["causal"])) if kind == "exact" else attended.real
    return _drawn(problem, rng, draw)


def _drawn(problem: Problem, rng: np.random.Generator, draw: Callable[..., Drawn]) -> dict[str, Array]:
    length, size = int(problem["S"]), int(problem["D"])
    heads = [draw(length, length, size, _scale(problem), rng) for _ in range(_heads(problem))]
    shape = shapes(problem)["Q"]
    return {
        name: np.stack(arrays).astype(np.float16).reshape(shape)
        for name, arrays in zip(("Q", "K", "V"), zip(*heads, strict=True), strict=True)
    }


def special_inputs(problem: Problem, rng: np.random.Generator) -> dict[str, Array]:
    """As "real", with scores that reach FAR, and with a NaN in one query in eight, which makes its row of O NaN; in a
    key of every other head, which makes NaN of the rows of all queries that it counts for, and of no other; and where
    all keys count for all queries, in an element of V, which makes a column of the head NaN. Some queries are zero:
    they weigh all keys alike; a column of V is subnormal."""
    inputs = _drawn(problem, rng, partial(attended.real, common=FAR))
    rows, size = int(problem["S"]), int(problem["D"])
    queries, keys, values = (array.reshape(-1, rows, size) for array in (inputs[name] for name in "QKV"))
    for head in range(len(queries)):
        order = rng.permutation(rows)
        count = max(1, rows // 8)
        queries[head, order[count : 2 * count]] = 0.0
        for row in order[:count]:
            queries[head, row, rng.integers(size)] = np.nan
        values[head, :, rng.integers(size)] = (
            rng.integers(1, 1024, rows) * np.finfo(np.float16).smallest_subnormal
        )
        if head % 2:
            keys[head, rng.integers(rows // 2, rows), rng.integers(size)] = np.nan
        elif not problem["causal"]:
            values[head, rng.integers(rows), rng.integers(size)] = np.nan
    return inputs


def reference(inputs: Mapping[str, Array], problem: Problem) -> dict[str, Exact]:
    """O (B × H × S × D), float64."""
    found = np.empty(shapes(problem)["O"])
    for head, rows, some in _pieces(inputs, problem):
        found.reshape(-1, *found.shape[2:])[head, rows] = some.outputs
    return {"O": found}


def magnitude(inputs: Mapping[str, Array], problem: Problem) -> dict[str, Exact]:
    """What errors of O are bounded by, (B × H × S × D), float64: see Attended.magnitude."""
    found = np.empty(shapes(problem)["O"])
    for head, rows, some in _pieces(inputs, problem):
        found.reshape(-1, *found.shape[2:])[head, rows] = some.magnitude
    return {"O": found}


def shapes(problem: Problem) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    shape = tuple(int(problem[name]) for name in "BHSD")
    return {"Q": shape, "K": shape, "V": shape, "O": shape}


def elements(read: Read, problem: Problem, name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of the output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array. The keys of a head are read once for all of its queries."""
    size, length = int(problem["D"]), int(problem["S"])
    row, column = np.divmod(places, size)
    head, query = np.divmod(row, length)
    found, magnitudes = np.empty(len(places)), np.empty(len(places))
    every = np.arange(size)
    for one in np.unique(head):
        own = np.flatnonzero(head == one)
        last = int(query[own].max()) + 1 if problem["causal"] else length  # keys that count for one of them
        at = one * length + np.arange(last)[:, None]
        chosen, which = np.unique(query[own], return_inverse=True)
        columns, of_column = np.unique(column[own], return_inverse=True)
        rows = _rows(
            read("Q", (one * length + chosen[:, None]) * size + every),
            read("K", at * size + every),
            read("V", at * size + columns),
            chosen,
            problem,
        )
        found[own] = rows.outputs[which, of_column]
        magnitudes[own] = rows.magnitude[which, of_column]
    return found, magnitudes


def min_flop(problem: Problem) -> int:
    """A multiplication and an addition for each of D numbers, for scores as for outputs, of each query with each key
    that counts for it. Exponentials are not counted."""
    length = int(problem["S"])
    pairs = length * (length + 1) // 2 if problem["causal"] else length * length
    return 4 * int(problem["D"]) * _heads(problem) * pairs


def min_bytes(problem: Problem) -> int:
    """Q, K and V read once, O written once, 2 bytes an element."""
    return 4 * written_bytes(problem)


def written_bytes(problem: Problem) -> int:
    """O."""
    return 2 * _heads(problem) * int(problem["S"]) * int(problem["D"])


def mistake(inputs: Mapping[str, Array], outputs: Mapping[str, Array], problem: Problem) -> str | None:
    """What is behind a wrong O: the one mistaken formula that gives all of it, but for rounding."""
    length = int(problem["S"])
    if _heads(problem) * length * length > MOST_SCORES:
        return None
    o = outputs["O"].astype(np.float64).reshape(-1, length, int(problem["D"]))
    with np.errstate(all="ignore"):
        right, bound = (
            found["O"].reshape(o.shape) for found in (reference(inputs, problem), magnitude(inputs, problem))
        )
        heads = _Heads.of(inputs, problem)
        formulas = [*_formulas(heads), *_of_order(heads.outputs, int(problem["B"]))]
        for loose in (0.0 * bound, bound):  # in exact cases, each element is known better than its bound says
            if near(o, right, loose):
                return None
            found = {
                text
                for text, gives in formulas
                if np.isnan(o[np.isnan(gives)]).all() and near(o, gives, loose)
            }
            if found:
                return found.pop() if len(found) == 1 else None
        return _SCORES_IN_HALF if _scores_in_half(heads, np.abs(o - right), bound) else None


def _scores_in_half(heads: _Heads, errors: Exact, bound: Exact) -> bool:
    """Whether outputs are off by what sums of scores may be off by in half precision, and not by less. In exact cases
    what rounds matters nothing: the next scores are too far away."""
    if (heads.queries % 1 == 0).all():
        return False
    products = np.abs(heads.queries) @ np.abs(heads.keys).swapaxes(1, 2)
    exponents = _of_scores(heads.scores) * 4 * HALF * heads.scale * np.where(heads.counts, products, 0.0)
    shares = exponents @ np.abs(heads.values) + exponents.sum(axis=2, keepdims=True) * np.abs(heads.outputs)
    return bool((errors <= shares + HALF * bound).all() and (errors > 2 * ROOM * HALF * bound).any())


class _Heads(NamedTuple):
    """All heads of a small problem: S rows of D numbers each."""

    queries: Exact
    keys: Exact
    values: Exact
    scale: float
    causal: bool

    @classmethod
    def of(cls, inputs: Mapping[str, Array], problem: Problem) -> _Heads:
        shape = (-1, int(problem["S"]), int(problem["D"]))
        queries, keys, values = (inputs[name].astype(np.float64).reshape(shape) for name in "QKV")
        return cls(queries, keys, values, _scale(problem), bool(problem["causal"]))

    @property
    def counts(self) -> NDArray[np.bool_]:
        """Which keys count for which queries."""
        length = self.queries.shape[1]
        return np.tri(length, dtype=bool) if self.causal else np.ones((length, length), dtype=bool)

    @property
    def products(self) -> Exact:
        """Of all queries and keys."""
        found: Exact = self.queries @ self.keys.swapaxes(1, 2)
        return found

    @property
    def scores(self) -> Exact:
        return np.where(self.counts, self.scale * self.products, -np.inf)

    @property
    def outputs(self) -> Exact:
        found: Exact = _of_scores(self.scores) @ self.values
        return found


def _of_scores(scores: Exact, axis: int = 2) -> Exact:
    """Their softmax along an axis."""
    terms = np.exp(scores - scores.max(axis=axis, keepdims=True))
    found: Exact = terms / terms.sum(axis=axis, keepdims=True)
    return found


def _formulas(heads: _Heads) -> Iterator[tuple[str, Exact]]:
    """Mistaken formulas of O with what they give."""
    yield from _of_masks(heads)
    yield from _of_scales(heads)
    yield from _of_other_heads(heads)
    scores, values = heads.scores, heads.values
    terms = np.exp(scores - scores.max(axis=2, keepdims=True))
    yield attended.NOT_DIVIDED, terms @ values
    overflowing = np.exp(scores).astype(np.float32).astype(np.float64)
    yield _NO_MAXIMUM, overflowing @ values / overflowing.sum(axis=2, keepdims=True)
    for start in attended.STARTS:
        for lost in (0.0, np.nan):
            largest = scores.max(axis=2, keepdims=True)
            yield attended.LATE_MAXIMUM, attended.begun_with(start, largest, heads.outputs, lost)
    yield _OVER_QUERIES, _of_scores(scores, axis=1) @ values
    yield _EXCHANGED, heads._replace(queries=heads.keys, keys=heads.queries).outputs
    yield attended.KEYS_AS_VALUES, heads._replace(values=heads.keys).outputs
    yield from _of_rows(heads)
    for width in TILES:
        yield from _of_tiles(heads, scores, width)


def _of_masks(heads: _Heads) -> Iterator[tuple[str, Exact]]:
    scores, query = heads.scale * heads.products, np.arange(heads.queries.shape[1])[:, None]
    key = query.T
    masks = {_ALWAYS_MASKED: key <= query}
    if heads.causal:
        masks = {
            _NEVER_MASKED: key >= 0,
            _WRONG_SIDE: key >= query,
            _WITHOUT_ITSELF: key < query,
            _ONE_TOO_MANY: key <= query + 1,
        }
    for text, counts in masks.items():
        given = _of_scores(np.where(counts, scores, -np.inf)) @ heads.values
        # A query for which no key counts may get anything.
        yield text, np.where(counts.any(axis=1, keepdims=True), given, np.inf)
    if heads.causal:
        yield _MASKED_WITH_ZERO, _of_scores(np.where(heads.counts, scores, 0.0)) @ heads.values


def _of_scales(heads: _Heads) -> Iterator[tuple[str, Exact]]:
    for text, scale in attended.mistaken_scales(heads.scale, heads.queries.shape[2]):
        yield text, heads._replace(scale=scale).outputs


def _of_other_heads(heads: _Heads) -> Iterator[tuple[str, Exact]]:
    for name in ("keys", "values"):
        array: Exact = getattr(heads, name)
        others = {
            "the next head": (np.roll(array, -1, axis=0), np.concatenate([array[1:], array[-1:]])),
            "the head before": (np.roll(array, 1, axis=0), np.concatenate([array[:1], array[:-1]])),
            "the first head": (np.broadcast_to(array[:1], array.shape),),
        }
        for other, taken in others.items():
            for each in taken if len(array) > 1 else ():
                text = _OTHER_HEAD.format(array=name[0].upper(), other=other)
                changed = heads._replace(keys=each) if name == "keys" else heads._replace(values=each)
                yield text, changed.outputs


def _of_rows(heads: _Heads) -> Iterator[tuple[str, Exact]]:
    """Weights meet the row of V behind their own, or before it: of the head, or in memory."""
    place, length = np.arange(heads.values.shape[1]), heads.values.shape[1]
    flat = heads.values.reshape(-1, heads.values.shape[2])
    for other, step in (("behind", 1), ("before", -1)):
        text = _OTHER_VALUES.format(other=other)
        yield text, heads._replace(values=heads.values[:, np.clip(place + step, 0, length - 1)]).outputs
        yield text, heads._replace(values=np.roll(flat, -step, axis=0).reshape(heads.values.shape)).outputs


def _of_order(outputs: Exact, batch: int) -> Iterator[tuple[str, Exact]]:
    """Rows of O stored in another order, by all of them."""
    count, length, size = outputs.shape
    own = outputs.reshape(batch, count // batch, length, size)
    for text, axes in ((_QUERIES_FIRST, (0, 2, 1, 3)), (_HEADS_FIRST, (1, 0, 2, 3))):
        yield text, own.transpose(axes).reshape(outputs.shape)


def _of_tiles(heads: _Heads, scores: Exact, width: int) -> Iterator[tuple[str, Exact]]:
    """What comes out where keys are taken `width` at a time."""
    values, length = heads.values, scores.shape[2]
    if length <= width:
        if length % width and not heads.causal:
            yield _PADDED, _padded(scores, width) @ values
        return
    whole = length // width * width
    if whole < length:
        yield _TAIL.format(whole=whole, length=length), _of_scores(scores[:, :, :whole]) @ values[:, :whole]
        if not heads.causal:
            yield _PADDED, _padded(scores, width) @ values
    first = np.arange(0, length, width)
    of_tile = np.repeat(np.maximum.reduceat(scores, first, axis=2), width, axis=2)[:, :, :length]
    so_far = np.maximum.accumulate(of_tile, axis=2)
    right, early = np.exp(scores - scores.max(axis=2, keepdims=True)), np.exp(scores - so_far)
    own = np.where(of_tile == -np.inf, 0.0, np.exp(scores - of_tile))
    sums, sums_early, sums_own = (terms.sum(axis=2, keepdims=True) for terms in (right, early, own))
    yield _OUTPUTS_NOT_SCALED, early @ values / sums
    yield _SUM_NOT_SCALED, right @ values / sums_early
    yield _NEITHER_SCALED, early @ values / sums_early
    yield _OWN_MAXIMUM, own @ values / sums_own
    yield from _of_stale_values(values, right / sums, width)
    last = length - 1 if not heads.causal else np.arange(length)
    in_last = np.arange(length) // width == (np.asarray(last) // width)[..., None]
    yield _LAST_TILE, _of_scores(np.where(in_last, scores, -np.inf)) @ values


def _of_stale_values(values: Exact, weights: Exact, width: int) -> Iterator[tuple[str, Exact]]:
    """Where weights of a tile meet rows of V of another: in all tiles, in the last one alone, or in all others."""
    if width not in IN_FLIGHT:
        return
    length = values.shape[1]
    query, key = np.arange(length)[:, None], np.arange(length)
    tiles = -(-length // width)
    lasts = [query * 0 + tiles - 1]
    lasts += [np.minimum((query // rows + 1) * rows - 1, length - 1) // width for rows in BLOCKS]
    for other, distance in (("before", -1), ("behind", 1)):
        at = key % width + width * np.clip(key // width + distance, 0, tiles - 1)
        stale = np.pad(values, ((0, 0), (0, tiles * width - length), (0, 0)))[:, at]
        text = _STALE_VALUES.format(other=other)
        yield text, weights @ stale
        for last in lasts:
            in_last = key // width == last
            for changed in (in_last, ~in_last):
                yield text, np.where(changed, weights, 0.0) @ stale + np.where(changed, 0.0, weights) @ values


def _padded(scores: Exact, width: int) -> Exact:
    """The softmax with scores of 0 behind the last key, up to a multiple of `width`."""
    more = -scores.shape[2] % width
    return _of_scores(np.pad(scores, ((0, 0), (0, 0), (0, more))))[:, :, : scores.shape[2]]


TILES = (8, 16, 32, 64, 128)
"""Keys of a tile."""

IN_FLIGHT = (64, 128)
"""Keys of a tile that a copy brings while products of another are under way."""

BLOCKS = (64, 128)
"""Queries that have their last tile in common where it is causal."""

MOST_SCORES = 1 << 18
"""Of a problem whose wrong outputs are explained: some fifty formulas are tried."""

_NEVER_MASKED = (
    "Every key counts for every query. Where causal is not 0, key j counts for query i only if j <= i: let the others "
    "have a score of -∞."
)
_ALWAYS_MASKED = "Keys behind the query are left out where causal is 0, too: there, all keys count."
_WRONG_SIDE = (
    "The mask is turned: keys behind a query count, and not those before it. "
    "Key j counts for query i if j <= i."
)
_WITHOUT_ITSELF = "A query's own key is masked: key j counts for query i if j <= i, and not only if j < i."
_ONE_TOO_MANY = (
    "The key behind a query's own counts as well: key j counts for query i if j <= i, and not if j = i + 1."
)
_MASKED_WITH_ZERO = (
    "Keys that do not count have scores of 0, whose exponential is not 0. Let their scores be -∞ before the maximum is "
    "taken."
)
_OTHER_HEAD = (
    "{array} is that of {other}. All four arrays are B × H × S × D: "
    "head h of b begins at (b * H + h) * S * D."
)
_NO_MAXIMUM = (
    "The largest score of the row is not subtracted: exp(score) overflows above 88.72, and below -104 all terms are "
    "zero."
)
_SCORES_IN_HALF = (
    "It is off by more than rounding explains in single precision, and by no more than in half: exponentials make of a "
    "rounded score a wrong weight. Let the sum of a score's products be a float, and the score as well."
)
_OVER_QUERIES = "The softmax is taken over the queries of each key. It goes over the keys of each query."
_EXCHANGED = "Q and K have changed places: row i of O belongs to query i, and the softmax goes over keys."
_OTHER_VALUES = (
    "Weights are multiplied by the row of V {other} that of their key: "
    "key j has row j of its head in K as in V."
)
_QUERIES_FIRST = (
    "O is taken to be B × S × H × D. It is B × H × S × D: row i of head h of b begins at "
    "((b * H + h) * S + i) * D."
)
_HEADS_FIRST = (
    "O is taken to be H × B × S × D. It is B × H × S × D: head h of b begins at (b * H + h) * S * D."
)
_TAIL = (
    "The first {whole} of {length} keys alone count: the last tile, which is not full, is left out. Round the number "
    "of tiles up."
)
_PADDED = (
    "What lies behind the last key counts as keys with a score of 0, whose exponential is not 0. Let their scores be "
    "-∞."
)
_OUTPUTS_NOT_SCALED = (
    "When a tile brings a larger maximum, the sum of exponentials is scaled, and the sum of their products with V is "
    "not, or is too early, with products of the old maximum still to be added. Multiply it by exp(old maximum - new "
    "maximum) as well, once they are."
)
_SUM_NOT_SCALED = (
    "When a tile brings a larger maximum, the sum of exponentials is not scaled. Multiply it by exp(old maximum - new "
    "maximum), as that of their products with V."
)
_NEITHER_SCALED = (
    "When a tile brings a larger maximum, what was summed before is not scaled. Multiply both sums by exp(old maximum "
    "- new maximum)."
)
_OWN_MAXIMUM = (
    "From the scores of each tile the maximum of that tile is subtracted, and the sums of tiles are added as they are. "
    "They have to be made of one and the same maximum: multiply them by exp(their maximum - the common one)."
)
_STALE_VALUES = (
    "Weights of a tile of keys are multiplied by V of the tile {other}: K and V of one tile belong together. Where "
    "both go through one ring, each takes a step of its own, in the same order where it is brought and where it is "
    "used."
)
_LAST_TILE = (
    "O is made of the last tile of keys alone: "
    "sums have to go on from tile to tile, and begin with 0 only once."
)


def _rows(queries: Exact, keys: Exact, values: Exact, places: Places, problem: Problem) -> Attended:
    """Some queries of a head, by their places in it, and as many keys as count for one of them."""
    counted = np.arange(len(keys)) <= (places[:, None] if problem["causal"] else len(keys))
    counts = np.broadcast_to(counted, (len(queries), len(keys)))
    return Attended(queries, keys, values, counts, _scale(problem))


def _heads(problem: Problem) -> int:
    return int(problem["B"]) * int(problem["H"])


def _scale(problem: Problem) -> float:
    """As the kernel gets it."""
    return float(np.float32(problem["scale"]))


def _pieces(inputs: Mapping[str, Array], problem: Problem) -> Iterator[tuple[int, slice, Attended]]:
    """Heads of whole inputs, and some rows at a time, with as many keys as count for one of them."""
    length, size = int(problem["S"]), int(problem["D"])
    count = max(1, ROWS // length)
    for head in range(_heads(problem)):
        queries, keys, values = (
            inputs[name].reshape(-1, length, size)[head].astype(np.float64) for name in "QKV"
        )
        for first in range(0, length, count):
            rows = slice(first, min(first + count, length))
            last = rows.stop if problem["causal"] else length
            places = np.arange(length)[rows]
            yield head, rows, _rows(queries[rows], keys[:last], values[:last], places, problem)
