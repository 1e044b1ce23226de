"""What a day of interviews consists of, by style and level: `lessons/loops/<style>.toml`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from grader.errors import WarpladderError
from grader.interview import bank
from grader.interview.reading import LEVELS, Level, at_least, known_level, prose
from grader.interview.session import Kind
from grader.workbook.content import content_root
from grader.workbook.expressions import nearest
from grader.workbook.strict_toml import Table, read

FOLDER = "loops"
"""The folder below lessons/ that is no topic."""

MOST_MINUTES = 180


@dataclass(frozen=True)
class Part:
    """One interview of the day."""

    title: str
    levels: tuple[Level, ...]  # that have it
    formats: tuple[Kind, ...]  # of which one is drawn
    minutes: int
    count: int  # questions or drills; of a coding round, 1
    topics: tuple[str, ...]  # ladders to draw from; () for all
    names: tuple[str, ...]  # questions to draw from
    role: str  # the job whose questions are drawn, where none are named; "general" for all
    line: int  # of the style's file


@dataclass(frozen=True)
class Style:
    """A kind of job."""

    name: str
    title: str
    about: str  # what is asked, in a sentence
    parts: tuple[Part, ...]
    file: Path

    def day(self, level: Level) -> list[Part]:
        """The parts for a level, in order."""
        return [part for part in self.parts if level in part.levels]


def discover(root: Path | None = None) -> dict[str, Style]:
    """Every style, by name; raises WarpladderError for a broken one."""
    folder = (root or content_root()) / "lessons" / FOLDER
    return {path.stem: read_style(path) for path in sorted(folder.glob("*.toml"))}


def find(styles: Mapping[str, Style], name: str) -> Style:
    """The style with that name; raises WarpladderError."""
    if name not in styles:
        message = f"there is no style `{name}`{nearest(name, styles)}"
        raise WarpladderError(message, remedy=f"there are {', '.join(styles)}")
    return styles[name]


def read_style(path: Path) -> Style:
    """A style from its file; raises WarpladderError."""
    table = read(path.read_text(encoding="utf-8").splitlines(), path)
    table.allow("title", "about", "part")
    parts = tuple(_part(item) for item in at_least(1, table, "part"))
    for level in LEVELS:
        if not any(level in part.levels for part in parts):
            raise table.error(f"no part is for the level {level}")
    return Style(path.stem, prose(table, "title"), prose(table, "about"), parts, path)


def check(root: Path, topics: Collection[str]) -> Iterator[WarpladderError]:
    """Problems of the styles below `root`: broken files, and names of what there is not."""
    questions = [path.stem for path in sorted((root / "lessons" / bank.FOLDER).glob("*.toml"))]
    for path in sorted((root / "lessons" / FOLDER).glob("*")):
        try:
            style = read_style(path)
        except WarpladderError as error:
            yield error
            continue
        for part in style.parts:
            for kind, names, known in (("question", part.names, questions), ("topic", part.topics, topics)):
                for name in names:
                    if name not in known:
                        message = f"there is no {kind} `{name}`{nearest(name, list(known))}"
                        yield WarpladderError(message, file=path, line=part.line)


def _part(table: Table) -> Part:
    table.allow("title", "levels", "formats", "minutes", "count", "topics", "names", "role")
    minutes, count = table.get("minutes", int), table.get("count", int, 1)
    if not 1 <= minutes <= MOST_MINUTES:
        raise table.error(f"`minutes` is {minutes}", "minutes", f"1 to {MOST_MINUTES}")
    if count < 1:
        raise table.error(f"`count` is {count}", "count", "1 or more")
    return Part(
        title=prose(table, "title"),
        levels=_levels(table),
        formats=_formats(table),
        minutes=minutes,
        count=count,
        topics=table.names("topics"),
        names=table.names("names"),
        role=_role(table),
        line=table.line(),
    )


def _role(table: Table) -> str:
    try:
        return bank.known_role(table.get("role", str, bank.GENERAL))
    except WarpladderError as error:
        raise table.error(error.message, "role", error.remedy) from None


def _levels(table: Table) -> tuple[Level, ...]:
    try:
        return tuple(known_level(name) for name in table.names("levels")) or LEVELS
    except WarpladderError as error:
        raise table.error(error.message, "levels", error.remedy) from None


def _formats(table: Table) -> tuple[Kind, ...]:
    known: dict[str, Kind] = {kind: kind for kind in get_args(Kind) if kind != "today"}
    names = table.names("formats")
    for name in names:
        if name not in known:
            remedy = f"one of {', '.join(known)}"
            raise table.error(f"there is no format `{name}`{nearest(name, known)}", "formats", remedy)
    if not names:
        raise table.error("`formats` is missing", remedy='add formats = ["quiz"]')
    return tuple(known[name] for name in names)
