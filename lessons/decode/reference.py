"""Attention of one query a sequence over a cache of keys and values in pages, O = softmax(scale · q · Kᵀ) · V for each
query head: inputs, the answer in float64, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grader.workbook import attended
from grader.workbook.attended import FAR, Attended, Drawn

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
    """How many tokens the sequences have, in rising order: 0 to T, most of them few. One alone has T, and of 2 none.
    Where T is no whole number of pages, one alone has a seventh less, and of three or more the last but one has T - 1:
    a row of the table is as long as one of T. They follow from the problem, so that what has to be read does."""
    count, most = int(problem["B"]), int(problem["T"])
    if count == 1:
        return np.array([0 if most == 2 else most - (most // 7 if most % PAGE else 0)])
    found = np.rint(most * (np.arange(count) / (count - 1)) ** 2).astype(np.int64)
    if count > 2 and most % PAGE:
        found[-2] = most - 1
    return np.sort(found)


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
    return _drawn(problem, rng, attended.exact if kind == "exact" else attended.real)


def _drawn(problem: Problem, rng: np.random.Generator, draw: Callable[..., Drawn]) -> Arrays:
    whole, given = shapes(problem), tables(problem, rng)
    group, heads = _group(problem), int(problem["KV"])
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
    """As "real", with scores that reach FAR, and with NaN wherever no sequence has anything: it must not be seen. And
    with a NaN in one query in eight; in a key of one sequence in four, which makes NaN of the outputs of all queries
    that share it; and in an element of V of another, which makes NaN of a column. Some queries are zero: they weigh all
    keys alike."""
    inputs = _drawn(problem, rng, partial(attended.real, common=FAR))
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
        if _has_nan_of_nobody(o, inputs, right, bound):
            return _BEHIND
        batch = _Batch.of(inputs, problem)
        formulas = [
            (text, np.where(empty[:, None, None], ANYTHING, gives)) for text, gives in _formulas(batch)
        ]
        for loose in (0.0 * bound, bound):  # in exact cases, each element is known better than its bound says
            found = {
                text
                for text, gives in formulas
                if np.isnan(o[np.isnan(gives)]).all() and attended.near(o, gives, loose)
            }
            if found:
                return found.pop() if len(found) == 1 else None
        return _MAXIMUM if _has_maximum_of_nobody(o, batch, right, bound) else None


MOST_SCORES = 1 << 17
"""Of a problem whose wrong outputs are explained."""

ANYTHING = np.inf
"""What a formula gives that divides 0 by 0: a kernel may do something else there."""


def _has_nan_of_nobody(o: Exact, inputs: Inputs, right: Exact, bound: Exact) -> bool:
    """Whether all is right but for NaN of sequences behind whose last token, in its page or in their row of the table,
    there is one."""
    if not np.isnan(inputs["V"][0]).all():
        return False
    own, most = inputs["lengths"].astype(np.int64), PAGE * inputs["table"].shape[1]
    for behind in (own % PAGE > 0, (own > 0) & (own < most)):
        nan = np.isnan(right) | behind[:, None, None]
        others = nan.all() or attended.near(o[~nan], right[~nan], bound[~nan])
        if behind.any() and np.isnan(o[nan]).all() and others:
            return True
    return False


LOST = 104.0
"""How far a maximum may be above all scores at the most before floats have 0 for each exponential. A sum of
exponentials that is scaled step by step is 0 where the maximum is further above, by its logarithm."""


def _has_maximum_of_nobody(o: Exact, batch: _Batch, right: Exact, bound: Exact) -> bool:
    """Whether those queries alone are wrong behind whose last token, in its page or in their row of the table, there is
    a larger score than all of their own, and all of which it is so much larger that nothing is left of these: they are
    0, or NaN, which 0 / 0 is, or infinite. Where all queries are wrong, nothing is said: so they are where the sum that
    all are divided by is not set."""
    own, most = batch.lengths, PAGE * batch.table.shape[1]
    scores = {place: scores for place, scores, _ in batch.heads()}
    wrong = {place for place in scores if not attended.near(o[place], right[place], bound[place])}
    nothing = (~np.isfinite(o) | (o == 0.0)).all(axis=2)
    for other in (-(-own // PAGE) * PAGE, np.full_like(own, own.max()), np.full_like(own, most)):
        behind = batch._replace(lengths=np.where(own > 0, other, 0))
        above = {place: more.max() - scores[place].max() for place, more, _ in behind.heads()}
        larger = {place for place in above if above[place] > 0.0}
        lost = {place for place in above if above[place] > LOST + np.log(len(scores[place]))}
        if (
            lost
            and lost <= wrong <= larger
            and wrong < scores.keys()
            and all(nothing[place] for place in lost)
        ):
            return True
    return False


class _Batch(NamedTuple):
    """A small problem, as a kernel takes it to be."""

    queries: Exact  # B × H × D
    keys: Exact  # pages × KV × PAGE × D
    values: Exact
    table_of_keys: Places
    table: Places  # of values
    lengths: Places
    shared_of_keys: Places  # of each query head, the head of keys
    shared: Places  # of values
    scale: float
    scored: Places | None = None  # how many tokens of a sequence have scores that are not 0; None: all

    @classmethod
    def of(cls, inputs: Inputs, problem: Problem) -> _Batch:
        queries, keys, values = (inputs[name].astype(np.float64) for name in "QKV")
        shared = np.arange(int(problem["H"])) // _group(problem)
        table, own = (inputs[name].astype(np.int64) for name in ("table", "lengths"))
        return cls(queries, keys, values, table, table, own, shared, shared, _scale(problem))

    def heads(self) -> Iterator[tuple[tuple[int, int], Exact, Exact]]:
        """Of each query head its place, the scores of its tokens, and their rows of V."""
        for sequence, length in enumerate(self.lengths):
            (of_keys, slots), (pages, _) = (
                _places(table[sequence], min(length, PAGE * table.shape[1]))
                for table in (self.table_of_keys, self.table)
            )
            for head, shared in enumerate(self.shared if length > 0 else ()):
                keys = self.keys[of_keys, self.shared_of_keys[head], slots]
                scores = self.scale * (keys @ self.queries[sequence, head])
                if self.scored is not None:
                    scores[self.scored[sequence] :] = 0.0
                yield (sequence, head), scores, self.values[pages, shared, slots]

    def gives(self, *ways: Callable[[Exact], Exact]) -> list[Exact]:
        """O by each way to make weights of the scores of a head."""
        found = np.full((len(ways), *self.queries.shape), ANYTHING)
        for (sequence, head), scores, values in self.heads():
            found[:, sequence, head] = np.stack([weigh(scores) for weigh in ways]) @ values
        return list(found)

    @property
    def outputs(self) -> Exact:
        return self.gives(_softmax)[0]


def _softmax(scores: Exact) -> Exact:
    return _shares(np.exp(scores - scores.max()))


def _formulas(batch: _Batch) -> Iterator[tuple[str, Exact]]:
    """Mistaken formulas of O with what they give."""
    for text, changed in _changed(batch):
        yield text, changed.outputs
    outputs = batch.outputs
    yield _HEADS_FIRST, outputs.swapaxes(0, 1).reshape(outputs.shape)
    texts, ways = zip(*_ways(), strict=True)
    yield from zip(texts, batch.gives(*ways), strict=True)


def _changed(batch: _Batch) -> Iterator[tuple[str, _Batch]]:
    for of in (_of_lengths, _of_tables, _of_heads, _of_rows, _of_scales):
        yield from of(batch)


def _of_lengths(batch: _Batch) -> Iterator[tuple[str, _Batch]]:
    own, most = batch.lengths, PAGE * batch.table.shape[1]
    for text, other in (
        (_ALL_PAGES, np.full_like(own, most)),
        (_ALL_TOKENS, np.full_like(own, own.max())),
        (_WHOLE_PAGES, -(-own // PAGE) * PAGE),
        (_FULL_PAGES, own // PAGE * PAGE),
        (_LAST_TOKEN, own - 1),
        (_ONE_TOO_MANY, np.minimum(own + 1, most)),
        (_ONE_TOO_MANY, np.minimum(own + 1, own.max())),
        (_OTHER_LENGTH, np.roll(own, 1)),
        (_OTHER_LENGTH, np.roll(own, -1)),
        (_OTHER_LENGTH, np.full_like(own, own[0])),
    ):
        yield text, batch._replace(lengths=other)
    for other in (-(-own // PAGE) * PAGE, np.full_like(own, own.max()), np.full_like(own, most)):
        yield _ZERO_SCORES, batch._replace(lengths=np.where(own > 0, other, 0), scored=own)


def _of_tables(batch: _Batch) -> Iterator[tuple[str, _Batch]]:
    table, pages = batch.table, len(batch.keys)
    sequence, page = np.indices(table.shape)
    first = np.cumsum(-(-batch.lengths // PAGE)) - -(-batch.lengths // PAGE)
    flat = {
        _SHORTER_ROW: sequence * (table.shape[1] - 1),
        _ROW_OF_LENGTH: -(-batch.lengths // PAGE)[:, None] * sequence,
        _ROW_OF_HEADS.format(other="H"): sequence * len(batch.shared),
        _ROW_OF_HEADS.format(other="KV"): sequence * batch.keys.shape[1],
    }
    for text, other in (
        (_NO_TABLE, page),
        (_NO_TABLE, 1 + page),
        (_NO_TABLE, sequence * table.shape[1] + page),
        (_NO_TABLE, first[:, None] + page),
        (_NO_TABLE, 1 + first[:, None] + page),
        (_ONE_PAGE, 0 * page),
        (_ONE_PAGE, table[:, :1] + 0 * page),
        (_ONE_ROW, table[:1] + 0 * page),
        (_OTHER_ROW, np.roll(table, 1, axis=0)),
        (_OTHER_ROW, np.roll(table, -1, axis=0)),
        *((text, table.ravel()[(begin + page) % table.size]) for text, begin in _unlike(flat)),
        (_BY_COLUMNS, table.reshape(table.shape[::-1]).T),
        (_NEXT_PAGE, np.roll(table, -1, axis=1)),
    ):
        inside: Places = np.asarray(other % pages, np.int64)
        yield text, batch._replace(table=inside, table_of_keys=inside)
        yield text + _KEYS_ALONE, batch._replace(table_of_keys=inside)
        yield text + _VALUES_ALONE, batch._replace(table=inside)
    keys, values = (array.reshape(pages, PAGE, -1, D).swapaxes(1, 2) for array in (batch.keys, batch.values))
    yield _TOKENS_FIRST, batch._replace(keys=keys, values=values)
    yield attended.KEYS_AS_VALUES, batch._replace(values=batch.keys)


def _of_heads(batch: _Batch) -> Iterator[tuple[str, _Batch]]:
    heads = batch.keys.shape[1]
    head = np.arange(len(batch.shared))
    group = len(head) // heads
    for text, other in _unlike(
        {
            _ONE_HEAD: 0 * head,
            _MODULO: head % heads,
            _BY_KV: np.minimum(head // heads, heads - 1),
            _MODULO_GROUP: np.minimum(head % group, heads - 1),
            _NEIGHBOUR.format(other="behind"): (batch.shared + 1) % heads,
            _NEIGHBOUR.format(other="before"): (batch.shared - 1) % heads,
        },
        batch.shared,
    ):
        yield text, batch._replace(shared=other, shared_of_keys=other)
        yield text + _KEYS_ALONE, batch._replace(shared_of_keys=other)
        yield text + _VALUES_ALONE, batch._replace(shared=other)
    for step in (1, -1):
        yield _OTHER_QUERY, batch._replace(queries=np.roll(batch.queries, step, axis=1))
    yield _OTHER_QUERY, batch._replace(queries=batch.queries[:1] + 0 * batch.queries)


def _unlike(ways: Mapping[str, Places], right: Places | None = None) -> Iterator[tuple[str, Places]]:
    """Those that differ from what is right, and from each other: of two that are the same, the first."""
    seen = [] if right is None else [right]
    for text, way in ways.items():
        if not any(np.array_equal(way, other) for other in seen):
            seen.append(way)
            yield text, way


def _of_rows(batch: _Batch) -> Iterator[tuple[str, _Batch]]:
    """Weights meet the row of V behind their own, or before it: of the sequence, of the page, or in memory."""
    slot = np.arange(PAGE)
    for other, step in (("behind", 1), ("before", -1)):
        text = _OTHER_VALUES.format(other=other)
        for values in (
            _of_tokens(batch, step, batch.lengths),
            _of_tokens(batch, step, np.full_like(batch.lengths, PAGE * batch.table.shape[1])),
            batch.values[:, :, np.clip(slot + step, 0, PAGE - 1)],
            np.roll(batch.values, -step, axis=2),
            np.roll(batch.values.reshape(-1, D), -step, axis=0).reshape(batch.values.shape),
        ):
            yield text, batch._replace(values=values)


def _of_tokens(batch: _Batch, step: int, most: Places) -> Exact:
    """V with the rows of tokens that are `step` further on, of so many that a sequence is taken to have."""
    found = batch.values.copy()
    for length, count, row in zip(batch.lengths, most, batch.table, strict=True):
        pages, slots = _places(row, int(count))
        moved = np.clip(np.arange(length) + step, 0, max(count - 1, 0))
        found[pages[:length], :, slots[:length]] = batch.values[pages[moved], :, slots[moved]]
    return found


def _of_scales(batch: _Batch) -> Iterator[tuple[str, _Batch]]:
    mistaken = attended.mistaken_scales(batch.scale, D)
    for text, scale in (*mistaken, (_BASE_TWO, batch.scale * np.log(2.0))):
        yield text, batch._replace(scale=scale)


def _begun_with(start: float, lost: float) -> Callable[[Exact], Exact]:
    return lambda scores: attended.begun_with(start, scores.max(), _softmax(scores), lost)


def _padded(tokens: int) -> Callable[[Exact], Exact]:
    """Scores of 0 behind the last token, up to a multiple of `tokens`, and rows of V that are 0."""
    return lambda scores: _softmax(np.pad(scores, (0, -len(scores) % tokens)))[: len(scores)]


Split = Callable[[int], Places]
"""How a sequence of so many tokens is split: of each token the number of its part."""


def _ways() -> Iterator[tuple[str, Callable[[Exact], Exact]]]:
    """Mistaken ways to make weights of the scores of a head."""
    yield attended.NOT_DIVIDED, lambda scores: np.exp(scores - scores.max())
    for start in attended.STARTS:
        for lost in (0.0, np.nan):
            yield attended.LATE_MAXIMUM, _begun_with(start, lost)
    for tokens in PARTS:
        yield _PADDED, _padded(tokens)
    for split in _splits():
        yield from _of_parts(split)
    for tokens in (1, *PARTS):
        yield from _of_steps(_dealt(1, 1), tokens)
    for count in COUNTS:
        for unit in (1, PAGE):
            yield from _of_steps(_dealt(count, unit), unit)


def _splits() -> Iterator[Split]:
    for tokens in PARTS:
        yield _of_length(tokens)
    for count in COUNTS:
        for unit in (1, PAGE):
            yield from (_rounded_up(count, unit), _even(count, unit), _dealt(count, unit))


def _of_length(tokens: int) -> Split:
    return lambda length: np.arange(length) // tokens


def _rounded_up(count: int, unit: int) -> Split:
    """So many parts of whole pages, or of tokens: the last one may be shorter, or not be there."""
    return lambda length: np.arange(length) // (unit * max(1, -(-length // (unit * count))))


def _even(count: int, unit: int) -> Split:
    """So many parts, as long as each other but for a page, or a token."""
    return lambda length: (np.arange(length) // unit * count + count - 1) // -(-length // unit)


def _dealt(count: int, unit: int) -> Split:
    """Pages, or tokens, are dealt out to so many."""
    return lambda length: np.arange(length) // unit % count


def _of_parts(split: Split) -> Iterator[tuple[str, Callable[[Exact], Exact]]]:
    """What comes out where parts are merged, or are not."""

    def of_tokens(scores: Exact) -> tuple[Exact, Exact, Exact]:
        """Of each token the maximum and the total of its part, and its weight in there."""
        _, part = np.unique(split(len(scores)), return_inverse=True)
        maxima = np.full(part.max() + 1, -np.inf)
        np.maximum.at(maxima, part, scores)
        own: Exact = maxima[part]
        terms: Exact = np.exp(scores - own)
        totals: Exact = np.bincount(part, terms).astype(np.float64)[part]
        return own, totals, terms

    def averaged(scores: Exact) -> Exact:
        _, totals, terms = of_tokens(scores)
        return _shares(terms / totals)

    def own_maximum(scores: Exact) -> Exact:
        _, _, terms = of_tokens(scores)
        return _shares(terms)

    def without_totals(scores: Exact) -> Exact:
        maxima, totals, terms = of_tokens(scores)
        return _shares(terms / totals * np.exp(maxima - scores.max()))

    def only(token: int) -> Callable[[Exact], Exact]:
        def weigh(scores: Exact) -> Exact:
            part = split(len(scores))
            return _softmax(np.where(part == part[token], scores, -np.inf))

        return weigh

    yield _AVERAGED, averaged
    yield _OWN_MAXIMUM, own_maximum
    yield _WITHOUT_TOTALS, without_totals
    yield _FIRST_PART, only(0)
    yield _LAST_PART, only(-1)


def _of_steps(split: Split, tokens: int) -> Iterator[tuple[str, Callable[[Exact], Exact]]]:
    """What comes out where each part takes so many tokens at a time, and what it has found before is not scaled."""

    def early(scores: Exact) -> tuple[Exact, Exact]:
        """Terms of the maximum that a part had so far, and of the last one."""
        parts, found = split(len(scores)), scores.copy()
        for part in np.unique(parts):
            own = scores[parts == part]
            so_far = np.maximum.accumulate(np.maximum.reduceat(own, np.arange(0, len(own), tokens)))
            excess = own.max() - np.repeat(so_far, tokens)[: len(own)]
            found[parts == part] += excess
        return np.exp(found - scores.max()), np.exp(scores - scores.max())

    def outputs_not_scaled(scores: Exact) -> Exact:
        terms, right = early(scores)
        return np.asarray(terms / right.sum())

    def sum_not_scaled(scores: Exact) -> Exact:
        terms, right = early(scores)
        return np.asarray(right / terms.sum())

    def neither(scores: Exact) -> Exact:
        terms, _ = early(scores)
        return _shares(terms)

    yield _OUTPUTS_NOT_SCALED, outputs_not_scaled
    yield _SUM_NOT_SCALED, sum_not_scaled
    yield _NEITHER_SCALED, neither


def _shares(terms: Exact) -> Exact:
    return np.asarray(terms / terms.sum())


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
_BEHIND = (
    "What lies behind the last token comes in. It may be NaN, and 0 · NaN is NaN: a weight of 0 is not enough, nor is "
    "-∞ that is added to a score. Choose instead of computing: scores of -∞, and zeros in place of rows of V."
)
_ZERO_SCORES = (
    "What lies behind the last token counts with scores of 0, whose exponential is not 0. Let the scores from token "
    "lengths[b] on be -∞, and leave out their rows of V."
)
_MAXIMUM = (
    "A score from behind the last token, which is larger than a query's own, is taken for its maximum: exponentials of "
    "the others are rounded to 0, and 0 / 0 is NaN. Let scores from token lengths[b] on be -∞ before the maximum is "
    "taken, not behind it."
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
_ONE_PAGE = "All tokens are taken to lie in one page. Token t lies in page t / 16 of its sequence."
_OTHER_ROW = (
    "Sequences have the pages of another one. Those of sequence b begin at table[b * M], where M is "
    "(T + 15) / 16."
)
_SHORTER_ROW = "A row of the table is taken to have T / 16 pages. It has (T + 15) / 16: round up."
_ROW_OF_LENGTH = (
    "A row of the table is taken to be as long as its sequence. All rows have M = (T + 15) / 16 pages: that of "
    "sequence b begins at table[b * M], whatever lengths[b] is."
)
_ROW_OF_HEADS = (
    "The table's row of sequence b is taken to begin at table[b * {other}]. It begins at table[b * M], where M is "
    "(T + 15) / 16."
)
_KEYS_ALONE = " It is so for K alone: V is read as it should be."
_VALUES_ALONE = " It is so for V alone: K is read as it should be."
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
_BY_KV = "Query head h has the keys and values of head h / KV. It has number h / (H / KV): H / KV neighbours share one."
_MODULO_GROUP = (
    "Query head h has the keys and values of head h % (H / KV). It has number h / (H / KV): H / KV neighbours share "
    "one."
)
_NEIGHBOUR = (
    "Query heads have the keys and values of the head {other} their own. Query head h has number h / (H / KV), and "
    "head k of page p begins at (p * KV + k) * 16 * 128."
)
_OTHER_VALUES = (
    "Weights are multiplied by the row of V {other} that of their token. Token t has one place in K and in V: row "
    "t % 16 of page t / 16 of its sequence."
)
_OTHER_QUERY = "O belongs to another query: row b * H + h of Q makes row b * H + h of O."
_HEADS_FIRST = "O is taken to be H × B × 128. It is B × H × 128: head h of sequence b is row b * H + h."
_PADDED = (
    "Behind the last token come scores of 0 with rows of zeros, and the exponential of 0 is not 0: it counts in the "
    "sum that all are divided by. Let the scores there be -∞."
)
_BASE_TWO = "Weights are powers of 2, and not of e: exp(x) is exp2(x · log2(e)), with log2(e) = 1.442695."
_AVERAGED = (
    "Parts of a sequence are merged as if they weighed the same. Weigh each by its sum of exponentials, times "
    "exp(its maximum - the largest of all), and divide by the sum of these weights."
)
_WITHOUT_TOTALS = (
    "Parts of a sequence, each divided by its own sum of exponentials, are merged by exp(their maximum - the largest "
    "of all) alone. Multiply this weight by that sum, or divide once, in the end."
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
