"""What there is to be asked, an item for each probe, and the order to learn it in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass

from grader.history.outcomes import LEVELS, Level

_WORDS = re.compile(r"[A-Z]{3}\w*|[^\W\d_][\w.+-]{3,}")
"""Words of four letters or more, and shorter names in capitals: XOR."""

_STEM = 6
"""Letters that tell a word in all its forms: swizzle, swizzled, swizzling."""


@dataclass(frozen=True)
class Item:
    """One thing that is checked."""

    key: str  # as in Outcome: "banks/one_word", "estimate/kv-cache/bytes"
    title: str  # of the question, interview or drill
    point: str  # what a right answer shows to be known; Markdown
    level: Level
    topics: tuple[str, ...]  # ladders that it belongs to
    builds_on: tuple[str, ...]  # names of questions that come before
    format: str  # quiz, interview, review, …
    rungs: tuple[
        str, ...
    ] = ()  # that apply it: "transpose/03_padded_tile"; of what to do next, from it to the next
    alone: bool = True  # it can be asked by itself; else only with all of its interview or drill

    @property
    def listed(self) -> dict[str, object]:
        """What a list says of it."""
        return asdict(self)

    @property
    def words(self) -> tuple[str, ...]:
        """How words begin by which its point may be known in lessons: the longer ones of the sentence."""
        return tuple(dict.fromkeys(word[:_STEM].lower() for word in _WORDS.findall(self.point)))

    @property
    def name(self) -> str:
        """The question, interview or drill that it is of: "banks", "kv-cache"."""
        return self.key.split("/")[-2]

    @property
    def subject(self) -> tuple[str, str]:
        """The point that it is about, which other items may be about as well."""
        return self.name, self.point

    @property
    def command(self) -> str:
        """What asks the whole of it."""
        return f"ladder {self.format} {self.name}"


def up_to(level: Level, items: Iterable[Item]) -> list[Item]:
    """Those of a level and of the levels below."""
    allowed = LEVELS[: LEVELS.index(level) + 1]
    return [item for item in items if item.level in allowed]


def in_order(items: Iterable[Item]) -> list[Item]:
    """Items from the simplest: by level, and nothing before what it builds on. Names that are not there are ignored."""
    entries: dict[str, list[Item]] = {}
    for item in items:
        entries.setdefault(item.name, []).append(item)
    easiest_first = sorted(entries, key=lambda name: (LEVELS.index(entries[name][0].level), name))
    return [item for name in _before_first(easiest_first, entries) for item in entries[name]]


def _before_first(names: Iterable[str], entries: Mapping[str, list[Item]]) -> Iterator[str]:
    """The names, each once, after those that it builds on."""
    seen: set[str] = set()

    def visit(name: str) -> Iterator[str]:
        if name in seen or name not in entries:
            return
        seen.add(name)
        for before in entries[name][0].builds_on:
            yield from visit(before)
        yield name

    for name in names:
        yield from visit(name)
