"""Where a weak point is taught: the rung that applies it, and the section of a notebook or lesson that explains it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.history.items import Item
from grader.workbook.content import content_root, name_of
from grader.workbook.topic import Topic

_HEADING = re.compile(r"^## +(.+)$", re.MULTILINE)
_HEAD = re.compile(r'\A(?:\s*//[^\n]*\n)+|\A"""(.*?)"""', re.DOTALL)
QUESTIONS, ROUNDS = "quiz", "interview"
"""The formats whose items are looked for by their names, and by the rung that a round is about."""

_MORE = 3  # so often do a name and a heading count
_SEVERAL = 3  # so many words make sure of a place
_COMMON = 0.2  # of the places, and three at the least; a word that more of them have says nothing
_SPACES = re.compile(r"[\s`*_-]+")


@dataclass(frozen=True)
class Remedy:
    """A place to go to."""

    file: str  # from the root of the workbook: kernels/optimized/transpose/03_padded_tile.cu
    section: str  # the heading in a notebook or a lesson; "" for a rung


@dataclass(frozen=True)
class Text:
    """What is written in a place, in plain words."""

    title: str
    body: str

    def count(self, word: str) -> int:
        """How often a word is there; in the title it counts more."""
        return _MORE * self.title.count(word) + self.body.count(word)


class Remedies:
    """Where the points of a workbook are taught.

    A question, or the round of an interview, may name rungs itself. Otherwise a point is looked for by its words: in
    what rungs of its ladders say of themselves, and in the sections of notebooks. What is in names and headings counts
    more. A place is named only where it is surely about the point: else the entry itself is what helps.
    """

    def __init__(self, topics: Mapping[str, Topic], root: Path | None = None) -> None:
        self._topics = topics
        self._root = root or content_root()

    def of(self, item: Item) -> list[Remedy]:
        """The rung and the section that are about an item most; fewer where nothing is."""
        rung = self._rung(item)
        return [*rung, *(self._section(item) or self._lesson(rung))]

    def _rung(self, item: Item) -> list[Remedy]:
        """Of those that it names, else of its ladders, whose naive one teaches nothing yet."""
        if item.format == ROUNDS and item.rungs:
            return self._of_round(item)
        if named := self._heads(tuple(name.split("/")) for name in item.rungs):
            return _best(named, _words(item))
        climbed = (
            (topic, rung.id)
            for topic in item.topics
            for rung in (self._topics[topic].rungs[1:] if topic in self._topics else ())
        )
        return _best(_sure(self._heads(climbed), item), _words(item))

    def _of_round(self, item: Item) -> list[Remedy]:
        """The rung of its version; or, of what comes next, of those after it up to the next version."""
        topic, _, first = item.rungs[0].partition("/")
        last = item.rungs[-1].partition("/")[2]
        ids = self._topics[topic].ladder.ids if topic in self._topics else ()
        if first not in ids or last not in ids:
            return []
        between = ids[ids.index(first) + (first != last) : ids.index(last) + 1]
        heads = self._heads((topic, rung) for rung in between)
        return _best(heads, _words(item)) or list(heads)[-1:]

    def _section(self, item: Item) -> list[Remedy]:
        """Of the notebook that is called like the question, else of those on its ladders and what it builds on."""
        if item.format == QUESTIONS and (called := self._called(item.name)):
            return _best(called, _words(item)) or list(called)[:1]
        near = {place: text for name in item.builds_on for place, text in self._called(name).items()}
        own = {place: text for place, text in self._sections.items() if _stem(place) in item.topics}
        if item.format == QUESTIONS and item.topics:  # what is about no ladder is about all of them
            own |= {place: text for place, text in self._sections.items() if _stem(place) not in self._topics}
        near |= own
        return _best(_sure(near, item), _words(item))

    def _called(self, name: str) -> dict[Remedy, Text]:
        """Sections of the notebook with that name among its words."""
        words = set(name.split("-"))
        return {
            place: text for place, text in self._sections.items() if words <= set(_stem(place).split("_"))
        }

    def _lesson(self, rungs: Sequence[Remedy]) -> list[Remedy]:
        """The section of a ladder's lesson about a rung, whose number its heading begins with."""
        for rung in rungs:
            *_, topic, file = Path(rung.file).with_suffix("").parts
            number, lesson = ("00", file) if topic == "naive" else (file[:2], topic)
            path = self._root / "lessons" / lesson / "lesson.md"
            if path.is_file():
                begins = re.compile(rf"(?:\d+ and )?{number}\b")
                headings = _HEADING.findall(path.read_text(encoding="utf-8"))
                return [Remedy(name_of(path), found) for found in headings if begins.match(found)][:1]
        return []

    def _heads(self, rungs: Iterable[tuple[str, ...]]) -> dict[Remedy, Text]:
        """What rungs, each a topic and an id, say of themselves; those that there are."""
        found = {}
        for topic, rung in rungs:
            if topic in self._topics and rung in self._topics[topic].ladder.ids:
                path = self._topics[topic].rung(rung).path
                head = _HEAD.match(path.read_text(encoding="utf-8"))
                found[Remedy(name_of(path), "")] = Text(_plain(rung), _plain(head[0] if head else ""))
        return found

    @cached_property
    def _sections(self) -> dict[Remedy, Text]:
        """The text of each section of each notebook. An installed workbook has no notebooks."""
        found = {}
        for path in sorted((self._root / "notebooks").glob("*.md")):
            _, *parts = _HEADING.split(path.read_text(encoding="utf-8"))
            for heading, text in zip(parts[::2], parts[1::2], strict=True):
                place = Remedy(f"notebooks/{path.stem}.ipynb", heading.strip())
                found[place] = Text(_plain(f"{path.stem} {heading}"), _plain(text))
        return found


def _sure(places: Mapping[Remedy, Text], item: Item) -> dict[Remedy, Text]:
    """Those that are about an item: rungs with several of its words, or with one in the name; sections with several, of
    which one is in the heading.

    Words that many places have tell none of them from the others.
    """
    most = max(3, len(places) * _COMMON)
    having = {word: sum(text.count(word) > 0 for text in places.values()) for word in _words(item)}
    words = [word for word, count in having.items() if 0 < count <= most]

    def sure(place: Remedy, text: Text) -> bool:
        entitled = any(word in text.title for word in words)
        several = sum(text.count(word) > 0 for word in words) >= min(_SEVERAL, len(item.words))
        return entitled and several if place.section else entitled or several

    return {place: text for place, text in places.items() if sure(place, text)}


def _best(places: Mapping[Remedy, Text], words: Set[str]) -> list[Remedy]:
    """The place that is about these words most, in a list; [] where none of them is in any.

    The fewer places have a word, the more it counts, and the more words a place has.
    """
    having = {word: sum(text.count(word) > 0 for text in places.values()) for word in words}
    worth = {word: math.log(1 + len(places) / having[word]) for word in sorted(words) if having[word]}

    def score(place: Remedy) -> float:
        counts = [(value, places[place].count(word)) for word, value in worth.items()]
        distinct = sum(count > 0 for _, count in counts)
        return distinct * sum(value * math.log1p(count) for value, count in counts)

    best = max(places, key=score, default=None)
    return [best] if best is not None and score(best) else []


def _words(item: Item) -> set[str]:
    return {_plain(word) for word in item.words}


def _stem(place: Remedy) -> str:
    return Path(place.file).stem


def _plain(text: str) -> str:
    """One line in small letters, without Markdown's marks; hyphens are spaces."""
    return f" {_SPACES.sub(' ', text).strip().lower()}"
