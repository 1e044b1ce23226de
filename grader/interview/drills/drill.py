"""A drill: what is given, and steps that are asked about it, each a probe. `lessons/drills/<format>/<name>.toml`.

A format says what else its drills have, what is given besides the text, what is asked after the steps, and what has to
be proved of each drill before anybody is asked it.
"""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypedDict, TypeVar

from grader.errors import WarpladderError
from grader.interview import credit, reading
from grader.interview.points import check_weights, read_weight
from grader.interview.probes.kinds import Draw, Parameters, Probe, fields, known, read_draw, read_probe
from grader.interview.probes.posing import formatted
from grader.interview.prompts import Flow
from grader.interview.reading import Level, Source, prose
from grader.interview.session import Kind, Probed, Session
from grader.interview.talks import Talks
from grader.workbook.content import content_root
from grader.workbook.expressions import nearest
from grader.workbook.strict_toml import Table, read

FOLDER = "drills"
"""The folder below lessons/ that is no topic."""

HEAD = ("title", "level", "as_of", "minutes", "topics", "builds_on", "text", "draw", "step", "source")
"""The keys of every drill."""

MOST_MINUTES = 60

_FIELD = re.compile(r"\{[^{}]*\}")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_SHORT = {"line": "the line", "failure": "what goes wrong", "limiter": "what limits it"}
"""Steps of many drills, as a card calls them."""


@dataclass(frozen=True)
class Step:
    """One question about what is given."""

    weight: int  # of 100
    probe: Probe

    @property
    def title(self) -> str:
        """What it asks, in a sentence, with … for what is drawn."""
        text = _FIELD.sub("…", " ".join(self.probe.text.split()))
        sentences = _SENTENCE_END.split(text)
        asked = next((said for said in reversed(sentences) if said.endswith("?")), sentences[0])
        return asked if len(asked.split()) > 2 else text  # “Which?” says nothing by itself

    @property
    def short(self) -> str:
        """What it asks for, in a word or two: its name, with the unit that ends it as it is written."""
        if self.probe.name in _SHORT:
            return _SHORT[self.probe.name]
        words, unit = self.probe.name.split("_"), getattr(self.probe, "unit", "")
        if len(words) > 1 and words[-1] == re.sub(r"\W", "", unit).lower():
            return f"{' '.join(words[:-1])}, in {unit}"
        return " ".join(words)


@dataclass(frozen=True, kw_only=True)
class Drill:
    """What all formats have. Texts are Markdown."""

    name: str  # such as "late-barrier"
    title: str
    level: Level
    as_of: datetime.date  # until when its facts were looked up
    minutes: float  # that it takes
    topics: tuple[str, ...]  # the ladders it belongs to
    builds_on: tuple[str, ...]  # names of questions of the bank
    text: str  # what is given, with {parameters}
    draw: Draw  # parameters that all steps see
    steps: tuple[Step, ...]  # asked in turn; weights sum to 100, with what the format asks after them
    sources: tuple[Source, ...]
    file: Path

    @property
    def listed(self) -> dict[str, object]:
        """What a list says of it."""
        return {
            "name": self.name,
            "title": self.title,
            "level": self.level,
            "minutes": self.minutes,
            "topics": self.topics,
            "builds_on": self.builds_on,
        }

    @property
    def further(self) -> tuple[tuple[str, int], ...]:
        """Names and weights of what the format asks after the steps, where it earns something."""
        return ()

    def drawn(self, seed: int) -> Parameters:
        """The parameters that all steps see."""
        rng = random.Random(f"{seed} {self.name}")
        return {name: rng.choice(choices) for name, choices in self.draw.items()}

    def given(self, parameters: Parameters) -> str:
        """What the candidate has before the first step."""
        return formatted(self.text, parameters)


class Head(TypedDict):
    """The fields of a Drill, to make one from."""

    name: str
    title: str
    level: Level
    as_of: datetime.date
    minutes: float
    topics: tuple[str, ...]
    builds_on: tuple[str, ...]
    text: str
    draw: Draw
    steps: tuple[Step, ...]
    sources: tuple[Source, ...]
    file: Path


AnyDrill = TypeVar("AnyDrill", bound=Drill)


@dataclass(frozen=True)
class Format(Generic[AnyDrill]):
    """A kind of drill."""

    name: Kind  # the folder below lessons/drills, and the command
    asks: str  # what it asks for, in a line for `--list`
    count: int  # so many are drawn for a session, where nothing else is said
    read: Callable[[Path], AnyDrill]  # raises WarpladderError naming file and line
    prove: Callable[
        [AnyDrill], Iterator[WarpladderError]
    ]  # runs what a drill says of its kernels; yields problems
    after: Callable[
        [AnyDrill, Talks, str], Flow[None]
    ]  # asks what comes after the steps, at steps that begin with a name
    files: tuple[str, ...] = (".toml", ".py")  # how the names of a drill's files end

    def folder(self, root: Path | None = None) -> Path:
        """Where its drills lie."""
        return (root or content_root()) / "lessons" / FOLDER / self.name

    def discover(self, root: Path | None = None) -> dict[str, AnyDrill]:
        """Every drill of the format, by name; raises WarpladderError for a broken one."""
        return {path.stem: self.read(path) for path in sorted(self.folder(root).glob("*.toml"))}


def find(drills: Mapping[str, AnyDrill], name: str, format_name: str) -> AnyDrill:
    """The drill with that name; raises WarpladderError."""
    if name not in drills:
        message = f"there is no `{name}` to {format_name}{nearest(name, drills)}"
        raise WarpladderError(message, remedy=f"`ladder {format_name} --list` shows all")
    return drills[name]


def read_drill(path: Path) -> Drill:
    """A drill that has nothing besides what all have; raises WarpladderError."""
    table = read_table(path)
    table.allow(*HEAD)
    head = read_head(table)
    check_weights(table, "step", [step.weight for step in head["steps"]])
    return Drill(**head)


def read_table(path: Path) -> Table:
    """The TOML of a drill."""
    return read(path.read_text(encoding="utf-8").splitlines(), path)


def read_head(table: Table) -> Head:
    """What every drill has; a format that asks more after the steps checks the weights itself."""
    name = table.file.stem
    if not reading.NAME.fullmatch(name):
        raise table.error(f"it is called {name!r}", remedy="small letters, digits and hyphens: late-barrier")
    minutes = table.get("minutes", float)
    if not 0 < minutes <= MOST_MINUTES:
        raise table.error(f"`minutes` is {minutes:g}", "minutes", f"more than 0, at most {MOST_MINUTES}")
    draw, text = read_draw(table), prose(table, "text")
    for field in fields(table, "text", text):
        known(table, "text", field, draw)
    return Head(
        name=name,
        title=prose(table, "title"),
        level=reading.level(table),
        as_of=reading.as_of(table),
        minutes=minutes,
        topics=table.names("topics"),
        builds_on=reading.builds_on(table),
        text=text,
        draw=draw,
        steps=tuple(_step(item, draw) for item in reading.at_least(1, table, "step")),
        sources=reading.sources(table),
        file=table.file,
    )


def _step(table: Table, draw: Draw) -> Step:
    return Step(read_weight(table), read_probe(table, draw, others=("weight",)))


def checked_steps(drill: Drill, kept: Session) -> list[credit.Point]:
    """How the steps that were asked were answered."""
    found = []
    for step in drill.steps:
        answer = kept.answer(f"{drill.name}.{step.probe.name}")
        if isinstance(answer, Probed):
            found.append(credit.Point(step.weight, step.short, answer))
    return found


def nothing_to_prove(drill: Drill) -> Iterator[WarpladderError]:
    """The proof of a format whose drills say nothing that has to be run."""
    yield from ()


def look_back(drill: Drill, talks: Talks, step: str) -> Flow[None]:
    """Show how the steps went: all that comes after them in a format that asks nothing more."""
    yield from talks.interviewer.checked(drill.title, checked_steps(drill, talks.kept))
