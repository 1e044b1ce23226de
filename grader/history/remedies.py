"""Where a weak point is taught: the rung that applies it, and the section of a notebook in which it is worked out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.history.items import Item
from grader.workbook.content import content_root, name_of
from grader.workbook.topic import Topic

_HEADING = re.compile(r"^## +(.+)$", re.MULTILINE)
_HEAD = re.compile(r'\A(?:\s*//[^\n]*\n)+|\A"""(.*?)"""', re.DOTALL)
_MORE = 3  # so often do a name and a heading count
_LONG = 4  # letters from which a word says something by itself
_SPACES = re.compile(r"[\s`*_-]+")


@dataclass(frozen=True)
class Remedy:
    """A place to go to."""

    file: str  # from the root of the workbook: kernels/optimized/transpose/03_padded_tile.cu
    section: str  # the heading in a notebook; "" for a rung


class Remedies:
    """Where the points of a workbook are taught.

    A question may name rungs itself. Otherwise a point is looked for by its terms: in what rungs of its ladders say of
    themselves, and in the sections of notebooks. What is in names and headings counts more.
    """

    def __init__(self, topics: Mapping[str, Topic], root: Path | None = None) -> None:
        self._topics = topics
        self._root = root or content_root()

    def of(self, item: Item) -> list[Remedy]:
        """The rung and the section that are about an item most; fewer where nothing is."""
        return [*self._rung(item), *self._section(item)]

    def _rung(self, item: Item) -> list[Remedy]:
        """Of those that its question names, else of its ladders, whose naive one teaches nothing yet."""
        if named := self._heads(tuple(name.split("/")) for name in item.rungs):
            return _best(named, _words(item.terms)) or list(named)[:1]
        climbed = (
            (topic, rung.id)
            for topic in item.topics
            for rung in (self._topics[topic].rungs[1:] if topic in self._topics else ())
        )
        return _best(self._heads(climbed), _whole(item.terms))

    def _section(self, item: Item) -> list[Remedy]:
        """Of the notebook that is called like the question, else of all, rather of those on the item's ladders."""
        words = set(item.name.split("-"))
        called = {
            place: text for place, text in self._sections.items() if words <= set(_stem(place).split("_"))
        }
        if called:
            return _best(called, _words(item.terms)) or list(called)[:1]
        return _best(
            self._sections, _whole(item.terms), lambda place: 1.5 if _stem(place) in item.topics else 1.0
        )

    def _heads(self, rungs: Iterable[tuple[str, ...]]) -> dict[Remedy, str]:
        """What rungs, each a topic and an id, say of themselves; those that there are."""
        found = {}
        for topic, rung in rungs:
            if topic in self._topics and rung in self._topics[topic].ladder.ids:
                path = self._topics[topic].rung(rung).path
                head = _HEAD.match(path.read_text(encoding="utf-8"))
                found[Remedy(name_of(path), "")] = _plain(f"{_MORE * f'{rung} '}{head[0] if head else ''}")
        return found

    @cached_property
    def _sections(self) -> dict[Remedy, str]:
        """The text of each section of each notebook. An installed workbook has no notebooks."""
        found = {}
        for path in sorted((self._root / "notebooks").glob("*.md")):
            _, *parts = _HEADING.split(path.read_text(encoding="utf-8"))
            for heading, text in zip(parts[::2], parts[1::2], strict=True):
                place = Remedy(f"notebooks/{path.stem}.ipynb", heading.strip())
                found[place] = _plain(f"{path.stem} {_MORE * f'{heading} '}{text}")
        return found


def _best(
    places: Mapping[Remedy, str], words: Set[str], weight: Callable[[Remedy], float] = lambda place: 1.0
) -> list[Remedy]:
    """The place that is about these words most, in a list; [] where none of them is in any.

    The fewer places have a word, the more it counts, and the more words a place has.
    """
    having = {word: sum(word in text for text in places.values()) for word in words}
    worth = {word: math.log(1 + len(places) / having[word]) for word in sorted(words) if having[word]}

    def score(place: Remedy) -> float:
        counts = [(value, places[place].count(word)) for word, value in worth.items()]
        distinct = sum(count > 0 for _, count in counts)
        return weight(place) * distinct * sum(value * math.log1p(count) for value, count in counts)

    best = max(places, key=score, default=None)
    return [best] if best is not None and score(best) else []


def _whole(terms: Sequence[str]) -> set[str]:
    return {_plain(term) for term in terms}


def _words(terms: Sequence[str]) -> set[str]:
    """The terms, and the longer words in them: "bank conflict", "bank" and "conflict"."""
    return _whole(terms) | {
        f" {word}" for term in _whole(terms) for word in term.split() if len(word) >= _LONG
    }


def _stem(place: Remedy) -> str:
    return Path(place.file).stem


def _plain(text: str) -> str:
    """One line in small letters, without Markdown's marks; hyphens are spaces."""
    return f" {_SPACES.sub(' ', text).strip().lower()}"
