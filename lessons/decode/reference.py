"""Attention of one query a sequence over a cache of keys and values in pages, O = softmax(scale · q · Kᵀ) · V for each
query head: inputs, the answer in float64, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grader.workbook import attended
from grader.workbook.attended import Attended

Number = int | float
Problem = Mapping[str, Number]
Arrays = dict[str, NDArray[np.generic]]
Inputs = Mapping[str, NDArray[np.generic]]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]

D = 128
"""Numbers of a query, of a key, and of a row of V."""

PAGE = 16
"""Tokens of a page."""


def lengths(problem: Problem) -> Places:
    """How many tokens the sequences have, in rising order: 0 to T, most of them few. One alone has T. They follow from
    the problem, so that what has to be read does."""
    count = int(problem["B"])
    if count == 1:
        return np.array([int(problem["T"])])
    return np.rint(int(problem["T"]) * (np.arange(count) / (count - 1)) ** 2).astype(np.int64)


def tables(problem: Problem, rng: np.random.Generator, even: bool = False) -> Arrays:
    """table (B × T/16 rounded up) and lengths (B), int32. Sequences come in any order, and have pages from anywhere but
    page 0, which is nobody's: it stands in rows of the table behind the last page of a sequence. `even`: all sequences
    have the mean length, in whole pages, if it has any."""
    own = rng.permutation(lengths(problem))
    if even and own.sum() >= PAGE * len(own):
        own[:] = own.sum() // len(own) // PAGE * PAGE
    table = np.zeros(shapes(problem)["table"], np.int32)
    used = np.arange(table.shape[1]) < -(-own // PAGE)[:, None]
    table[used] = rng.permutation(np.arange(1, _pages(problem)))[: np.count_nonzero(used)]
    return {"table": table, "lengths": own.astype(np.int32)}


def make_inputs(problem: Problem, rng: np.random.Generator, kind: Literal["exact", "real"]) -> Arrays:
    """Q (B × H × 128), K and V (pages × KV × 16 × 128), float16, with the table and the lengths.

    The heads of a sequence are as attended.exact() draws them, or attended.real(). What no sequence has, page 0 and the
    rest of a last page, holds what others may have left there.
    """
    whole, given = shapes(problem), tables(problem, rng)
    group, heads = _group(problem), int(problem["KV"])
    draw = attended.exact if kind == "exact" else attended.real
    queries = np.empty((int(problem["B"]), heads, group, D))
    keys, values = (rng.integers(-3, 4, whole[name]).astype(np.float64) for name in "KV")
    for sequence, (length, row) in enumerate(zip(given["lengths"], given["table"], strict=True)):
        pages, slots = _places(row, int(length))
        for head in range(heads):
            queries[sequence, head], keys[pages, head, slots], values[pages, head, slots] = draw(
                group, int(length), D, _scale(problem), rng
            )
    found = {"Q": queries.reshape(whole["Q"]), "K": keys, "V": values}
    return {name: array.astype(np.float16) for name, array in found.items()} | given


def special_inputs(problem: Problem, rng: np.random.Generator) -> Arrays:
    """As "real", with NaN wherever no sequence has anything: it must not be seen. And with a NaN in one query in eight;
    in a key of one sequence in four, which makes NaN of the outputs of all queries that share it; and in an element of
    V of another, which makes NaN of a column. Some queries are zero: they weigh all keys alike."""
    inputs = make_inputs(problem, rng, "real")
    queries, keys, values = (inputs[name] for name in "QKV")
    unused = np.ones((len(keys), PAGE), bool)
    for sequence, length in enumerate(inputs["lengths"]):
        pages, slots = _places(inputs["table"][sequence], int(length))
        unused[pages, slots] = False
        for head in range(int(problem["H"])):
            match rng.integers(8):
                case 0:
                    queries[sequence, head, rng.integers(D)] = np.nan
                case 1:
                    queries[sequence, head] = 0.0
        for array, fate in ((keys, 1), (values, 2)):
            if sequence % 4 == fate and length:
                token = rng.integers(length)
                array[pages[token], rng.integers(int(problem["KV"])), slots[token], rng.integers(D)] = np.nan
    for array in (keys, values):
        array.swapaxes(1, 2)[unused] = np.nan
    return inputs


def reference(inputs: Inputs, problem: Problem) -> dict[str, Exact]:
    """O (B × H × 128), float64: 0 for a sequence without tokens."""
    return {"O": _of_all(inputs, problem, lambda heads: heads.outputs)}


def magnitude(inputs: Inputs, problem: Problem) -> dict[str, Exact]:
    """What errors of O are bounded by, (B × H × 128), float64: see Attended.magnitude."""
    return {"O": _of_all(inputs, problem, lambda heads: heads.magnitude)}


def shapes(problem: Problem) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    sequences, heads = int(problem["B"]), int(problem["H"])
    cache = (_pages(problem), int(problem["KV"]), PAGE, D)
    return {
        "Q": (sequences, heads, D),
        "K": cache,
        "V": cache,
        "table": (sequences, -(-int(problem["T"]) // PAGE)),
        "lengths": (sequences,),
        "O": (sequences, heads, D),
    }


def elements(read: Read, problem: Problem, name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of the output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array. The keys of a sequence's head are read once for all queries that share them."""
    row, column = np.divmod(places, D)
    sequence, head = np.divmod(row, int(problem["H"]))
    group, heads, width = _group(problem), int(problem["KV"]), shapes(problem)["table"][1]
    found, magnitudes = np.zeros(len(places)), np.zeros(len(places))
    every = np.arange(D)
    for one, shared in np.unique(np.stack([sequence, head // group]), axis=1).T:
        own = np.flatnonzero((sequence == one) & (head // group == shared))
        length = int(read("lengths", np.array([one]))[0])
        if length == 0:
            continue
        used = one * width + np.arange(-(-length // PAGE))
        pages, slots = _places(read("table", used).astype(np.int64), length)
        at = ((pages * heads + shared) * PAGE + slots)[:, None] * D
        chosen, which = np.unique(row[own], return_inverse=True)
        columns, of_column = np.unique(column[own], return_inverse=True)
        queries = read("Q", chosen[:, None] * D + every)
        rows = _attended(queries, read("K", at + every), read("V", at + columns), problem)
        found[own] = rows.outputs[which, of_column]
        magnitudes[own] = rows.magnitude[which, of_column]
    return found, magnitudes


def min_flop(problem: Problem) -> int:
    """A multiplication and an addition for each of 128 numbers, for scores as for outputs, of each query with each
    token of its sequence. Exponentials are not counted."""
    return 4 * D * int(problem["H"]) * int(lengths(problem).sum())


def min_bytes(problem: Problem) -> int:
    """Keys and values of all tokens read once, as Q, the pages' numbers and the lengths are; O written once."""
    own = lengths(problem)
    cache = 2 * 2 * D * int(problem["KV"]) * int(own.sum())
    return cache + 4 * int((-(-own // PAGE)).sum()) + 4 * len(own) + 2 * written_bytes(problem)


def written_bytes(problem: Problem) -> int:
    """O."""
    return 2 * int(problem["B"]) * int(problem["H"]) * D


def _group(problem: Problem) -> int:
    """Query heads that share a head of keys and values."""
    return int(problem["H"]) // int(problem["KV"])


def _pages(problem: Problem) -> int:
    """Of the cache: page 0, and those of sequences."""
    return 1 + int((-(-lengths(problem) // PAGE)).sum())


def _scale(problem: Problem) -> float:
    """As the kernel gets it."""
    return float(np.float32(problem["scale"]))


def _places(row: NDArray[np.generic], length: int) -> tuple[Places, Places]:
    """Of each token of a sequence its page and its place there; `row` is the sequence's of the table."""
    token = np.arange(length)
    return row[token // PAGE].astype(np.int64), token % PAGE


def _attended(queries: Exact, keys: Exact, values: Exact, problem: Problem) -> Attended:
    counts = np.ones((len(queries), len(keys)), bool)
    return Attended(queries, keys, values, counts, _scale(problem))


def _of_all(inputs: Inputs, problem: Problem, what: Callable[[Attended], Exact]) -> Exact:
    """Something of each output, 0 for sequences without tokens."""
    group, heads = _group(problem), int(problem["KV"])
    queries = inputs["Q"].astype(np.float64).reshape(-1, heads, group, D)
    found = np.zeros(queries.shape)
    for sequence, length in enumerate(inputs["lengths"]):
        pages, slots = _places(inputs["table"][sequence], int(length))
        for head in range(heads if length else 0):
            keys, values = (inputs[name][pages, head, slots].astype(np.float64) for name in "KV")
            found[sequence, head] = what(_attended(queries[sequence, head], keys, values, problem))
    return found.reshape(shapes(problem)["O"])


def mistake(inputs: Inputs, outputs: Inputs, problem: Problem) -> str | None:
    """What is behind a wrong O: the one mistaken formula that gives all of it, but for rounding."""
    if int(problem["B"]) * int(problem["H"]) * int(problem["T"]) > MOST_SCORES:
        return None
    o = outputs["O"].astype(np.float64)
    with np.errstate(all="ignore"):
        right, bound = reference(inputs, problem)["O"], magnitude(inputs, problem)["O"]
        empty = inputs["lengths"] == 0
        if attended.near(o[~empty], right[~empty], bound[~empty]):
            return None if attended.near(o, right, bound) else _EMPTY
        formulas = list(_formulas(_Batch.of(inputs, problem)))
        for loose in (0.0 * bound, bound):  # in exact cases, each element is known better than its bound says
            found = {text for text, gives in formulas if attended.near(o, gives, loose)}
            if found:
                return found.pop() if len(found) == 1 else None
    return None


MOST_SCORES = 1 << 17
"""Of a problem whose wrong outputs are explained."""


class _Batch(NamedTuple):
    """A small problem, as a kernel takes it to be."""

    queries: Exact  # B × H × D
    keys: Exact  # pages × KV × PAGE × D
    values: Exact
    table: Places
    lengths: Places
    shared: Places  # of each query head, the head of keys and values
    scale: float

    @classmethod
    def of(cls, inputs: Inputs, problem: Problem) -> _Batch:
        queries, keys, values = (inputs[name].astype(np.float64) for name in "QKV")
        shared = np.arange(int(problem["H"])) // _group(problem)
        table, own = (inputs[name].astype(np.int64) for name in ("table", "lengths"))
        return cls(queries, keys, values, table, own, shared, _scale(problem))

    def heads(self) -> Iterator[tuple[tuple[int, int], Exact, Exact]]:
        """Of each query head its place, the scores of its tokens, and their rows of V."""
        for sequence, length in enumerate(self.lengths):
            pages, slots = _places(self.table[sequence], min(length, PAGE * self.table.shape[1]))
            for head, shared in enumerate(self.shared if length > 0 else ()):
                scores = self.scale * (self.keys[pages, shared, slots] @ self.queries[sequence, head])
                yield (sequence, head), scores, self.values[pages, shared, slots]

    def gives(self, weigh: Callable[[Exact], Exact]) -> Exact:
        """O, where `weigh` makes weights of the scores of a head."""
        found = np.zeros(self.queries.shape)
        for place, scores, values in self.heads():
            found[place] = weigh(scores) @ values
        return found

    @property
    def outputs(self) -> Exact:
        return self.gives(_softmax)


def _softmax(scores: Exact) -> Exact:
    terms: Exact = np.exp(scores - scores.max())
    return terms / terms.sum()


def _formulas(batch: _Batch) -> Iterator[tuple[str, Exact]]:
    """Mistaken formulas of O with what they give."""
    for text, changed in (*_of_lengths(batch), *_of_tables(batch), *_of_heads(batch), *_of_scales(batch)):
        yield text, changed.outputs
    yield _NOT_DIVIDED, batch.gives(lambda scores: np.exp(scores - scores.max()))
    for tokens in PARTS:
        for text, weigh in _of_parts(tokens):
            yield text, batch.gives(weigh)
    for count in COUNTS:
        for of_pages in (False, True):
            yield (
                _AVERAGED,
                batch.gives(lambda scores, c=count, p=of_pages: _averaged(scores, _step(len(scores), c, p))),
            )


def _of_lengths(batch: _Batch) -> Iterator[tuple[str, _Batch]]:
    own, most = batch.lengths, PAGE * batch.table.shape[1]
    for text, other in (
        (_ALL_PAGES, np.full_like(own, most)),
        (_ALL_TOKENS, np.full_like(own, own.max())),
        (_WHOLE_PAGES, -(-own // PAGE) * PAGE),
        (_FULL_PAGES, own // PAGE * PAGE),
        (_LAST_TOKEN, own - 1),
        (_ONE_TOO_MANY, np.minimum(own + 1, most)),
        (_OTHER_LENGTH, np.roll(own, 1)),
        (_OTHER_LENGTH, np.full_like(own, own[0])),
    ):
        yield text, batch._replace(lengths=other)


def _of_tables(batch: _Batch) -> Iterator[tuple[str, _Batch]]:
    table, pages = batch.table, len(batch.keys)
    sequence, page = np.indices(table.shape)
    first = np.cumsum(-(-batch.lengths // PAGE)) - -(-batch.lengths // PAGE)
    for text, other in (
        (_NO_TABLE, sequence * table.shape[1] + page),
        (_NO_TABLE, first[:, None] + page),
        (_NO_TABLE, 1 + first[:, None] + page),
        (_ONE_ROW, table[:1] + 0 * page),
        (_BY_COLUMNS, table.reshape(table.shape[::-1]).T),
        (_NEXT_PAGE, np.roll(table, -1, axis=1)),
    ):
        yield text, batch._replace(table=other % pages)
    keys, values = (array.reshape(pages, PAGE, -1, D).swapaxes(1, 2) for array in (batch.keys, batch.values))
    yield _TOKENS_FIRST, batch._replace(keys=keys, values=values)


def _of_heads(batch: _Batch) -> Iterator[tuple[str, _Batch]]:
    heads = batch.keys.shape[1]
    head = np.arange(len(batch.shared))
    if heads > 1:
        yield _ONE_HEAD, batch._replace(shared=0 * head)
        yield _MODULO, batch._replace(shared=head % heads)
    for step in (1, -1):
        yield _OTHER_QUERY, batch._replace(queries=np.roll(batch.queries, step, axis=1))
    yield _OTHER_QUERY, batch._replace(queries=batch.queries[:1] + 0 * batch.queries)


def _of_scales(batch: _Batch) -> Iterator[tuple[str, _Batch]]:
    scale = batch.scale
    for text, other in (
        (_NOT_SCALED, 1.0),
        (_SCALED_TWICE, scale**2),
        (_INVERSE, 1 / scale),
        (_BASE_TWO, scale * np.log(2.0)),
    ):
        if other != scale:
            yield text, batch._replace(scale=other)


def _of_parts(tokens: int) -> Iterator[tuple[str, Callable[[Exact], Exact]]]:
    """What comes out where tokens are taken so many at a time."""

    def own_maximum(scores: Exact) -> Exact:
        first = np.arange(0, len(scores), tokens)
        largest = np.repeat(np.maximum.reduceat(scores, first), tokens)[: len(scores)]
        terms = np.exp(scores - largest)
        return np.asarray(terms / terms.sum())

    def early(scores: Exact) -> tuple[Exact, Exact]:
        """Terms of the maximum so far, and of the last one."""
        first = np.arange(0, len(scores), tokens)
        so_far = np.maximum.accumulate(np.maximum.reduceat(scores, first))
        return np.exp(scores - np.repeat(so_far, tokens)[: len(scores)]), np.exp(scores - scores.max())

    def outputs_not_scaled(scores: Exact) -> Exact:
        terms, right = early(scores)
        return np.asarray(terms / right.sum())

    def sum_not_scaled(scores: Exact) -> Exact:
        terms, right = early(scores)
        return np.asarray(right / terms.sum())

    def neither(scores: Exact) -> Exact:
        terms, _ = early(scores)
        return np.asarray(terms / terms.sum())

    def only(part: slice) -> Callable[[Exact], Exact]:
        def weigh(scores: Exact) -> Exact:
            weights = np.zeros(len(scores))
            chosen = slice((len(scores) - 1) // tokens * tokens, None) if part.start else part
            weights[chosen] = _softmax(scores[chosen])
            return weights

        return weigh

    yield _AVERAGED, lambda scores: _averaged(scores, tokens)
    yield _OWN_MAXIMUM, own_maximum
    yield _OUTPUTS_NOT_SCALED, outputs_not_scaled
    yield _SUM_NOT_SCALED, sum_not_scaled
    yield _NEITHER_SCALED, neither
    yield _FIRST_PART, only(slice(0, tokens))
    yield _LAST_PART, only(slice(1, None))


def _averaged(scores: Exact, tokens: int) -> Exact:
    """The mean of the softmaxes of parts."""
    parts = range(0, len(scores), tokens)
    found = [_softmax(scores[first : first + tokens]) for first in parts]
    return np.concatenate(found) / len(parts)


def _step(length: int, count: int, of_pages: bool) -> int:
    """Tokens of a part, of so many parts; of whole pages, or not."""
    if not of_pages:
        return max(1, -(-length // count))
    pages = -(-length // PAGE)
    return PAGE * -(-pages // count)


PARTS = tuple(PAGE << power for power in range(7))
"""Tokens of a part: of a tile, or of what a warp or a block takes."""

COUNTS = (2, 4, 8, 16, 32)
"""Parts of a sequence."""

_EMPTY = (
    "Outputs of a sequence without tokens are not 0. Its sums are 0, and 0 / 0 is NaN: where lengths[b] is 0, "
    "store zeros."
)
_ALL_PAGES = (
    "All tokens of all pages in the table's row count. Sequence b has lengths[b] tokens: what stands behind them in "
    "its row is page 0, which is nobody's."
)
_ALL_TOKENS = "Every sequence is taken to have as many tokens as the longest one. Sequence b has lengths[b]."
_WHOLE_PAGES = (
    "What lies behind the last token, in the rest of its page, counts as well. Let the scores from token lengths[b] on "
    "be -∞, and leave out their rows of V."
)
_FULL_PAGES = (
    "The last page, which is not full, is left out. A sequence has (lengths[b] + 15) / 16 pages: round up."
)
_LAST_TOKEN = "The last token is left out: those from 0 to lengths[b] - 1 count."
_ONE_TOO_MANY = "A token too many counts: those from 0 to lengths[b] - 1 do."
_OTHER_LENGTH = "Sequences have the length of another one: that of sequence b is lengths[b]."
_NO_TABLE = (
    "Pages are taken in the order in which they lie in the cache. Page p of sequence b is table[b * M + p], where M is "
    "(T + 15) / 16."
)
_ONE_ROW = (
    "All sequences have the pages of the first one. Those of sequence b begin at table[b * M], where M is "
    "(T + 15) / 16."
)
_BY_COLUMNS = (
    "The table is taken to be column-major. Page p of sequence b is table[b * M + p], M being (T + 15) / 16."
)
_NEXT_PAGE = "Each page is taken to be the next one of its sequence: token t lies in page t / 16."
_TOKENS_FIRST = (
    "A page is taken to have its tokens first, and of each token all heads. It is KV × 16 × 128: token s of head k in "
    "page p begins at ((p * KV + k) * 16 + s) * 128."
)
_ONE_HEAD = (
    "All query heads have the first head of keys and values. Query head h has number h / (H / KV): H / KV neighbours "
    "share one."
)
_MODULO = (
    "Query head h has the keys and values of head h % KV. It has number h / (H / KV): neighbours share one, and not "
    "every KV-th."
)
_OTHER_QUERY = "O belongs to another query: row b * H + h of Q makes row b * H + h of O."
_NOT_SCALED = "The scores are not multiplied by scale."
_SCALED_TWICE = (
    "The scores are multiplied by scale twice: is q multiplied by it when it is loaded, and the score again?"
)
_INVERSE = "The scores are divided by scale, and not multiplied by it."
_BASE_TWO = "Weights are powers of 2, and not of e: exp(x) is exp2(x · log2(e)), with log2(e) = 1.442695."
_NOT_DIVIDED = "O is Σ exp(score - max) · V as it is. It has to be divided by Σ exp(score - max)."
_AVERAGED = (
    "Parts of a sequence are merged as if they weighed the same. Weigh each by its sum of exponentials, times "
    "exp(its maximum - the largest of all), and divide by the sum of these weights."
)
_OWN_MAXIMUM = (
    "From the scores of each part the maximum of that part is subtracted, and the sums of parts are added as they are. "
    "Multiply them by exp(their maximum - the largest of all) first."
)
_OUTPUTS_NOT_SCALED = (
    "When tokens bring a larger maximum, the sum of exponentials is scaled, and the sum of their products with V is "
    "not. Multiply it by exp(old maximum - new maximum) as well."
)
_SUM_NOT_SCALED = (
    "When tokens bring a larger maximum, the sum of exponentials is not scaled. Multiply it by exp(old maximum - new "
    "maximum), as that of their products with V."
)
_NEITHER_SCALED = (
    "When tokens bring a larger maximum, what was summed before is not scaled. Multiply both sums by exp(old maximum - "
    "new maximum)."
)
_FIRST_PART = "O is made of the first part of a sequence alone: what other parts have found is left out."
_LAST_PART = "O is made of the last part of a sequence alone: what parts before it have found is left out."
