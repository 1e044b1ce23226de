"""Pairs of submissions that resemble each other, whatever names, comments and the order of functions are.

Every source becomes a text of one sign a token, and copydetect compares these texts by their runs of GRAM tokens. Runs
that the starter or a rung has as well are nobody's. What is common to two sources says nothing about how it came to be.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from copydetect import CodeFingerprint, compare_files
from copydetect.utils import get_token_coverage

from grader.course.batch import Submission
from grader.course.likeness import tokens
from grader.workbook.topic import Topic

GRAM = 14
"""Tokens in a row that two sources have to have in common: a short statement."""
LEAST_TOKENS = 40
"""What is common at least: less than four lines say nothing."""
MOST = 50
"""Pairs that are shown, the likeliest ones."""
_SIGNS = {"name": "V", "number": "N", "string": "S"}
_FIXED = 0xE000  # where Unicode has characters of no meaning


@dataclass(frozen=True)
class Line:
    """A line of a source."""

    number: int
    text: str
    common: bool  # some of it is in the other source, too, and in no rung


@dataclass(frozen=True)
class Side:
    """One of two sources."""

    students: tuple[str, ...]  # all who handed it in, but for names, comments and numbers
    share: float  # of its tokens that are in no rung, those that the other has as well
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Pair:
    """Two sources with common code."""

    topic: str
    share: float  # the larger one of both sides' shares
    tokens: int  # of the left side that are common
    left: Side
    right: Side


@dataclass(frozen=True)
class _Source:
    """A source as it is compared."""

    students: tuple[str, ...]
    text: str
    lines: tuple[int, ...]  # of each token
    prints: CodeFingerprint


def pairs(topic: Topic, submissions: Sequence[Submission], least: float) -> list[Pair]:
    """The pairs of a topic's submissions of which at least the share `least` is common, the likeliest first.

    Students with one and the same source, but for names, comments and numbers, are one side of a pair; they are a pair
    themselves as well.
    """
    files = [topic.starter.read_text(encoding="utf-8"), *(rung.source for rung in topic.rungs)]
    ladder = frozenset().union(*(_prints(_signs(topic, text)[0]).hashes for text in files))
    by_signs: dict[str, list[Submission]] = {}
    for item in submissions:
        by_signs.setdefault(_signs(topic, item.source)[0], []).append(item)
    sources = []
    found = []
    for same in by_signs.values():
        source = _source(topic, same, ladder)
        if source.prints.token_coverage >= LEAST_TOKENS:
            sources.append(source)
            found += _copies(topic, same, ladder)
    likely = sorted(
        ((share, one, two) for one, two in combinations(sources, 2) if (share := _share(one, two)) >= least),
        key=lambda item: -item[0],
    )
    compared = [_compared(topic, one, two) for _, one, two in likely[:MOST]]
    found += [pair for pair in compared if pair.tokens >= LEAST_TOKENS]
    return sorted(found, key=lambda pair: (-pair.share, -pair.tokens, pair.left.students))[:MOST]


def _copies(topic: Topic, same: Sequence[Submission], ladder: frozenset[int]) -> list[Pair]:
    """The first of those with one source beside all others."""
    if len(same) == 1:
        return []
    return [_compared(topic, _source(topic, same[:1], ladder), _source(topic, same[1:], ladder))]


def _source(topic: Topic, same: Sequence[Submission], ladder: frozenset[int]) -> _Source:
    text = same[0].source
    signs, lines = _signs(topic, text)
    found = _prints(signs)
    found.hashes -= ladder
    own = {print_: found.hash_idx[print_] for print_ in found.hashes}
    found.token_coverage = get_token_coverage(own, GRAM, len(signs))
    return _Source(tuple(item.student for item in same), text, lines, found)


def _signs(topic: Topic, text: str) -> tuple[str, tuple[int, ...]]:
    """A source as one sign a token, and the line of each."""
    found = list(tokens.of_source(topic.suffix, text))
    signs = [_SIGNS.get(token.kind) or _sign(token.text) for token in found]
    return "".join(signs), tuple(token.line for token in found)


_fixed: dict[str, str] = {}
"""The signs of the language's words, which are the same in all sources of a process."""


def _sign(word: str) -> str:
    """The sign of a word or a sign of the language."""
    return _fixed.setdefault(word, chr(_FIXED + len(_fixed)))


def _prints(signs: str) -> CodeFingerprint:
    """All runs of GRAM tokens; with a window of 1 none is left out by chance."""
    return CodeFingerprint("", GRAM, 1, filter=False, fp=io.StringIO(signs))


def _share(one: _Source, two: _Source) -> float:
    """About what is common of the shorter source's own code: quick enough for all pairs of a class."""
    first, second = one.prints.hashes, two.prints.hashes
    return len(first & second) / min(len(first), len(second))


def _compared(topic: Topic, one: _Source, two: _Source) -> Pair:
    common, shares, slices = compare_files(one.prints, two.prints)
    sides = [
        Side(source.students, float(share), _marked(source, where))
        for source, share, where in zip((one, two), shares, slices, strict=True)
    ]
    return Pair(topic.name, float(max(shares)), int(common), *sides)


def _marked(source: _Source, slices: Sequence[Sequence[float]]) -> tuple[Line, ...]:
    """A source's lines; `slices` are beginnings and ends of what is common, in tokens."""
    common = {
        line for begin, end in zip(*slices, strict=True) for line in source.lines[int(begin) : int(end)]
    }
    return tuple(
        Line(number, text, number in common) for number, text in enumerate(source.text.splitlines(), 1)
    )
