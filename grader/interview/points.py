"""Key points: what an answer is to say, heard by plain terms, and confirmed by probes.

Terms understand nothing. What they hear decides what the interviewer asks next, and is no mark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from grader.interview.probes.kinds import Probe, read_probe
from grader.interview.reading import at_least, prose
from grader.workbook.strict_toml import Table

WHOLE = 100  # what the weights of a list of points sum to

_SIGNS = str.maketrans(
    {"×": "x", "−": "-", "–": "-", "—": "-", "‑": "-", "’": "'", "²": "^2", "³": "^3", "·": "*"}
)
_SPACES = re.compile(r"[\s`*_-]+")


@dataclass(frozen=True)
class Point:
    """Something that has to be said."""

    weight: int
    text: str  # in a sentence, for the candidate to see afterwards
    terms: tuple[str, ...]  # one of which is heard where it is said
    nudge: str  # asked where it was not, and gives nothing away
    probes: tuple[Probe, ...]  # that confirm it
    line: int  # of the file that asks for it


def heard(text: str, point: Point) -> bool:
    """Whether an answer has one of the point's terms, where a word begins."""
    said = _plain(text)
    return any(_pattern(term).search(said) for term in point.terms)


def read_points(table: Table, name: str, least: int) -> tuple[Point, ...]:
    """The key points under `[[name]]`; their weights sum to 100. Raises WarpladderError."""
    tables = at_least(least, table, name)
    found = tuple(_point(item) for item in tables)
    check_weights(table, name, [point.weight for point in found])
    return found


def check_weights(table: Table, name: str, weights: list[int]) -> None:
    """Raise where the weights under `[[name]]` do not sum to 100."""
    if sum(weights) != WHOLE:
        message = f"the weights of `{name}` sum to {sum(weights)}, not to {WHOLE}"
        raise table.tables(name)[0].error(message, "weight")


def read_weight(table: Table) -> int:
    """The key `weight`."""
    weight = table.get("weight", int)
    if weight < 1:
        raise table.error("`weight` is below 1", "weight")
    return weight


def _point(table: Table) -> Point:
    table.allow("weight", "text", "terms", "nudge", "probe")
    terms = table.names("terms")
    if not terms or not all(_plain(term) for term in terms):
        raise table.error(
            f"`terms` is {list(terms)!r}", "terms", 'words that a good answer has: ["broadcast"]'
        )
    return Point(
        weight=read_weight(table),
        text=" ".join(prose(table, "text").split()),
        terms=terms,
        nudge=prose(table, "nudge"),
        probes=tuple(read_probe(item) for item in at_least(1, table, "probe")),
        line=table.line(),
    )


@cache
def _pattern(term: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![a-z0-9]){re.escape(_plain(term))}" if term[0].isascii() else re.escape(_plain(term))
    )


def _plain(text: str) -> str:
    """One line in small letters, without Markdown's marks; hyphens are spaces, signs those of a keyboard."""
    return _SPACES.sub(" ", text.translate(_SIGNS)).strip().lower()
