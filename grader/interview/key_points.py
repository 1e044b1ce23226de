"""Key points in free text: which were explained, which were only named, which are missing.

A point has groups of terms; it is said where, of each group, one term is found in what the candidate wrote.
That is fair to paraphrases as far as the terms foresee them, and it understands nothing: so the candidate is
shown what was found, and may correct it. A list of keywords is not an answer: terms count in full where they
stand in sentences, and by half where they are only dropped.

Words that fit the point fit its reversal as well: “left of the ridge it is compute-bound”. So a point may have
terms that take it back: a sentence in which one of these is found does not say it, whatever else stands there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Found = Literal["explained", "named", "missing"]

SHARES: dict[Found, float] = {"explained": 1.0, "named": 0.5, "missing": 0.0}
"""What of a point's weight each earns."""

WORDS_A_POINT = 4
"""A sentence explains at most one point for every so many of its words, and at least so many make a sentence."""

SHORT = 8
"""A sentence of fewer words needs one connecting word, a longer one two different ones, and a fifth of its words."""

_CONNECTING = (
    "a an the this that these those it its they their them there is are was be been being has have had do does "
    "did can cannot could may must should would will not no nor of to in into on onto for from by with without at "
    "as than then so because since if when where while which whose what who how why whether but and or both each "
    "every either all any some such many much few only also too just even more less fewer most per until unless "
    "after before between over under out up down against through within across beyond about like via instead "
    "though although therefore thus hence otherwise we i you he she my your our one let make makes take takes need "
    "needs get gets use uses used using = > < ≤ ≥"
)
CONNECTING = frozenset(_CONNECTING.split())
"""Words that join others to a statement."""

_SENTENCE_END = re.compile(r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)\s+|\n\s*(?:[-*•]|\d+[.)])\s+|\n\s*\n")
_HYPHEN = re.compile(r"(?<=\w\w)-(?=\w\w)")  # not that of [a-z]
_WORD = re.compile(r"[\w'’.%²³]+|[=<>≤≥]")
_SIGNS = str.maketrans(
    {"×": "x", "−": "-", "–": "-", "—": "-", "‑": "-", "’": "'", "²": "^2", "³": "^3", "·": "*"}
)


@dataclass(frozen=True)
class Point:
    """Something that has to be said."""

    weight: int
    text: str  # in a sentence, for the candidate to see
    terms: tuple[tuple[re.Pattern[str], ...], ...]  # groups: one of each has to be found
    line: int  # of the file that asks for it
    unless: tuple[re.Pattern[str], ...] = ()  # terms that take it back, in the sentence that would say it


def compile_term(term: str) -> re.Pattern[str]:
    """A term: a regular expression, in any case, that is found where a word begins. Raises re.error.

    A hyphen between words also finds a space.
    """
    loose = _HYPHEN.sub("[- ]", term.translate(_SIGNS))
    return re.compile(rf"(?<![^\W_])(?:{loose})", re.IGNORECASE)


def find(text: str, points: Sequence[Point]) -> list[Found]:
    """How a candidate's answer says each point."""
    sentences = [_plain(part) for part in _SENTENCE_END.split(text) if part.strip()]
    own = [[sentence if _meant(point, sentence) else "" for sentence in sentences] for point in points]
    found: list[Found] = [
        "named" if _said(point, " ".join(left)) else "missing"
        for point, left in zip(points, own, strict=True)
    ]
    capacity = [_capacity(sentence) for sentence in sentences]
    # A point whose terms occur in few sentences is placed first, so that it does not lose its place to others.
    wanted = {i: _places(points[i], own[i]) for i, how in enumerate(found) if how == "named"}
    for i in sorted(wanted, key=lambda i: len(wanted[i])):
        for place in wanted[i]:
            if capacity[place] > 0:
                capacity[place] -= 1
                found[i] = "explained"
                break
    return found


def score(found: Sequence[Found], points: Sequence[Point]) -> float:
    """The share of the points' weight that was earned, from 0 to 1."""
    earned = sum(SHARES[how] * point.weight for how, point in zip(found, points, strict=True))
    return earned / sum(point.weight for point in points)


def _said(point: Point, text: str) -> bool:
    return all(any(_found(term, text) for term in group) for group in point.terms)


def _meant(point: Point, sentence: str) -> bool:
    """Whether nothing in the sentence takes the point back."""
    return not any(_found(term, sentence) for term in point.unless)


def _found(term: re.Pattern[str], text: str) -> bool:
    return bool(term.search(text) or term.search(text.replace("-", " ")))


def _places(point: Point, sentences: Sequence[str]) -> list[int]:
    """Sentences that say the point; where none says it whole, those that say a part of it."""
    whole = [i for i, sentence in enumerate(sentences) if _said(point, sentence)]
    if whole:
        return whole
    alone = [Point(point.weight, point.text, (group,), point.line) for group in point.terms]
    return [i for i, sentence in enumerate(sentences) if any(_said(part, sentence) for part in alone)]


def _capacity(sentence: str) -> int:
    """How many points a sentence can explain; 0: it is none."""
    words = [word.lower() for word in _WORD.findall(sentence)]
    connecting = [word for word in words if word in CONNECTING]
    if len(words) < WORDS_A_POINT or not connecting:
        return 0
    if len(words) >= SHORT and (len(set(connecting)) < 2 or 5 * len(connecting) < len(words)):
        return 0
    return len(words) // WORDS_A_POINT


def _plain(text: str) -> str:
    """One line, without Markdown's marks, and with the signs of a keyboard."""
    bare = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"`|\*\*", "", bare).translate(_SIGNS).split())
