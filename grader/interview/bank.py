"""The bank of questions: `lessons/questions/<id>.toml`, with `<id>.py` where a question has numbers.

What a question and a coding round have in common is an `Entry`. Everything is read strictly: an unknown key, a
missing one, weights that do not sum to 100 or a term that is no regular expression is an error with file and line.

A key point has `any`, terms of which one has to be said, or `all`, lists of terms, of each of which one has to be
said. `unless` may add terms that take the point back where they stand in the sentence that would say it: the reversal
(`left [^.;,]{0,40}compute`, of a kernel left of the ridge) or a plain negation (`(do|does) not limit`).
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict
from urllib.parse import urlsplit

from grader.errors import WarpladderError
from grader.interview import key_points
from grader.interview.key_points import Point
from grader.workbook.content import content_root
from grader.workbook.expressions import nearest
from grader.workbook.strict_toml import Table, read

FOLDER = "questions"
"""The folder below lessons/ that is no topic."""

HEAD = ("id", "title", "question", "answer", "looks_for", "follow_up", "common_error", "source", "point")
"""The keys of every entry."""

LEAST_POINTS, LEAST_FOLLOW_UPS, LEAST_ERRORS, LEAST_SOURCES = 3, 2, 2, 1
WHOLE = 100  # what the weights of a list of points sum to

_ID = re.compile(r"(hpc|ai|code|misc)-\d\d")
_NAME = re.compile(r"[a-z]\w*")

Parameter = int | float | str
Parameters = Mapping[str, Parameter]


@dataclass(frozen=True)
class FollowUp:
    """What an interviewer asks next."""

    ask: str
    answer: str


@dataclass(frozen=True)
class CommonError:
    """A wrong answer that circulates."""

    says: str
    correction: str  # what is true, and why the other is wrong


@dataclass(frozen=True)
class Source:
    """Where a fact comes from."""

    title: str
    url: str  # http or https, or a path from the entry's folder
    line: int  # of the entry's file


@dataclass(frozen=True)
class NumberQuestion:
    """A question whose answer is computed from parameters that are drawn."""

    id: str  # also the name of the function that computes it
    text: str  # with {parameters}
    unit: str
    tolerance: float  # relative; 0: exactly this number
    explain: str  # with {parameters}, {answer} and whatever else the function gives
    draw: Mapping[str, tuple[Parameter, ...]]  # what each parameter is drawn from
    line: int  # of the question's file


@dataclass(frozen=True)
class KernelQuestion:
    """A version of a ladder that the candidate is asked to write."""

    topic: str
    rung: str
    ask: str
    line: int  # of the question's file


@dataclass(frozen=True)
class Entry:
    """What every question has. Texts are Markdown."""

    id: str  # such as "hpc-15"
    title: str
    question: str  # what the interviewer says
    answer: str  # what a senior engineer says in three minutes
    looks_for: str  # what the interviewer looks for in the answer
    follow_ups: tuple[FollowUp, ...]
    common_errors: tuple[CommonError, ...]
    sources: tuple[Source, ...]
    points: tuple[Point, ...]  # of the answer; weights sum to 100
    file: Path


class Head(TypedDict):
    """The fields of an Entry, to make one from."""

    id: str
    title: str
    question: str
    answer: str
    looks_for: str
    follow_ups: tuple[FollowUp, ...]
    common_errors: tuple[CommonError, ...]
    sources: tuple[Source, ...]
    points: tuple[Point, ...]
    file: Path


@dataclass(frozen=True)
class Question(Entry):
    """One question of the bank."""

    topics: tuple[str, ...]  # the ladders it belongs to
    numbers: tuple[NumberQuestion, ...]
    kernels: tuple[KernelQuestion, ...]

    @property
    def functions(self) -> Path:
        """The file that computes its numbers."""
        return self.file.with_suffix(".py")


def discover(root: Path | None = None) -> dict[str, Question]:
    """Every question under `root` (default: this installation's content), by id.

    Raises WarpladderError for a broken one, naming file and line.
    """
    folder = (root or content_root()) / "lessons" / FOLDER
    return {path.stem: read_question(path) for path in sorted(folder.glob("*.toml"))}


def load(question_id: str, root: Path | None = None) -> Question:
    """The question with that id; raises WarpladderError."""
    folder = (root or content_root()) / "lessons" / FOLDER
    path = folder / f"{question_id}.toml"
    if path.is_file():
        return read_question(path)
    ids = sorted(item.stem for item in folder.glob("*.toml"))
    message = f"there is no question `{question_id}`{nearest(question_id, ids)}"
    raise WarpladderError(message, remedy="`ladder quiz --list` shows every question")


def read_question(path: Path) -> Question:
    """A question from its file; raises WarpladderError."""
    table = read(path.read_text(encoding="utf-8").splitlines(), path)
    table.allow(*HEAD, "topics", "number", "kernel")
    head = read_head(table)
    if head["id"] != path.stem:
        raise table.error(f"`id` is {head['id']!r}", "id", f'write id = "{path.stem}", as the file is called')
    return Question(
        **head,
        topics=table.names("topics"),
        numbers=_numbers(table),
        kernels=tuple(_kernel(item) for item in table.tables("kernel")),
    )


def read_head(table: Table) -> Head:
    """What every entry has; raises WarpladderError where it is not complete."""
    entry_id = table.get("id", str)
    if not _ID.fullmatch(entry_id):
        raise table.error(f"`id` is {entry_id!r}", "id", "write it as hpc-01, ai-01, code-01 or misc-01")
    answer = prose(table, "answer")
    return Head(
        id=entry_id,
        title=prose(table, "title"),
        question=prose(table, "question"),
        answer=answer,
        looks_for=prose(table, "looks_for"),
        follow_ups=tuple(_follow_up(item) for item in at_least(LEAST_FOLLOW_UPS, table, "follow_up")),
        common_errors=tuple(_common_error(item) for item in at_least(LEAST_ERRORS, table, "common_error")),
        sources=tuple(_source(item) for item in at_least(LEAST_SOURCES, table, "source")),
        points=read_points(table, "point", LEAST_POINTS),
        file=table.file,
    )


def prose(table: Table, key: str) -> str:
    """A text that says something."""
    text = table.get(key, str).strip()
    if not text or "TODO" in text:
        raise table.error(f"`{key}` is not written yet", key)
    return text


def at_least(count: int, table: Table, name: str) -> tuple[Table, ...]:
    """The tables under `[[name]]`; raises WarpladderError where there are fewer than `count`."""
    found = table.tables(name)
    if len(found) < count:
        message = f"there are {len(found)} of `{name}`, and {count} are needed"
        raise table.error(message, remedy=f"write another [[{name}]]")
    return found


def read_points(table: Table, name: str, least: int) -> tuple[Point, ...]:
    """The key points under `[[name]]`; their weights sum to 100."""
    found = tuple(_point(item) for item in at_least(least, table, name))
    total = sum(point.weight for point in found)
    if total != WHOLE:
        raise table.tables(name)[0].error(f"the weights of `{name}` sum to {total}, not to {WHOLE}", "weight")
    return found


def _point(table: Table) -> Point:
    table.allow("weight", "text", "any", "all", "unless")
    weight = table.get("weight", int)
    if weight < 1:
        raise table.error("`weight` is below 1", "weight")
    if ("any" in table.values) == ("all" in table.values):
        remedy = 'any = ["one term", "another"], or all = [["a", "synonym of a"], ["b"]] where both have to be said'
        raise table.error("a point has either `any` or `all`", remedy=remedy)
    key = "any" if "any" in table.values else "all"
    groups = [table.values["any"]] if key == "any" else table.values["all"]
    if not _are_groups(groups):
        raise table.error(
            f"`{key}` is {table.values[key]!r}", key, "any: a list of terms; all: of such lists"
        )
    terms = tuple(_compiled(table, key, group) for group in groups)
    text = " ".join(prose(table, "text").split())
    return Point(weight, text, terms, table.line(), _unless(table))


def _unless(table: Table) -> tuple[re.Pattern[str], ...]:
    """The terms that take a point back."""
    if "unless" not in table.values:
        return ()
    terms = table.values["unless"]
    if not _are_groups([terms]):
        raise table.error(f"`unless` is {terms!r}", "unless", "a list of terms that take the point back")
    return _compiled(table, "unless", terms)


def _compiled(table: Table, key: str, terms: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    try:
        return tuple(key_points.compile_term(term) for term in terms)
    except re.error as error:
        raise table.error(f"`{key}` holds no regular expression: {error}", key) from None


def _are_groups(groups: object) -> bool:
    """Whether these are lists of terms, and none is empty."""
    if not isinstance(groups, list) or not groups:
        return False
    return all(
        isinstance(group, list) and group and all(_is_term(item) for item in group) for group in groups
    )


def _is_term(item: object) -> bool:
    return isinstance(item, str) and item != ""


def _follow_up(table: Table) -> FollowUp:
    table.allow("ask", "answer")
    return FollowUp(prose(table, "ask"), prose(table, "answer"))


def _common_error(table: Table) -> CommonError:
    table.allow("says", "correction")
    return CommonError(prose(table, "says"), prose(table, "correction"))


def _source(table: Table) -> Source:
    table.allow("title", "url")
    url = table.get("url", str)
    parts = urlsplit(url)
    on_the_web = parts.scheme in ("http", "https") and "." in parts.netloc and " " not in url
    if not on_the_web and (parts.scheme or not url.strip()):
        raise table.error(f"`url` is {url!r}", "url", "write https://…, or a path from this file's folder")
    return Source(prose(table, "title"), url, table.line("url"))


def _numbers(table: Table) -> tuple[NumberQuestion, ...]:
    found = tuple(_number(item) for item in table.tables("number"))
    ids = [number.id for number in found]
    for index, number_id in enumerate(ids):
        if number_id in ids[:index]:
            raise table.tables("number")[index].error(f"there is a number `{number_id}` already", "id")
    return found


def _number(table: Table) -> NumberQuestion:
    table.allow("id", "text", "unit", "tolerance", "explain", "draw")
    number_id = table.get("id", str)
    if not _NAME.fullmatch(number_id):
        raise table.error(f"`id` is {number_id!r}", "id", "it is the name of a function: blocks_per_sm")
    tolerance = table.get("tolerance", float)
    if not 0 <= tolerance <= 0.5:
        raise table.error(f"`tolerance` is {tolerance}", "tolerance", "relative: 0 is exact, 0.05 are 5 %")
    draws = table.table("draw")
    draw = {name: _choices(draws, name) for name in draws.values}
    text = prose(table, "text")
    _known_fields(table, "text", text, draw)
    explain = prose(table, "explain")
    if "answer" not in _fields(table, "explain", explain):
        raise table.error("`explain` does not show {answer}", "explain")
    return NumberQuestion(number_id, text, table.get("unit", str), tolerance, explain, draw, table.line())


def _choices(table: Table, name: str) -> tuple[Parameter, ...]:
    values = table.values[name]
    if not isinstance(values, list) or not values or not all(type(v) in (int, float, str) for v in values):
        raise table.error(f"`{name}` is {values!r}", name, f"a list to draw from: {name} = [128, 256]")
    if len(set(values)) < len(values):
        raise table.error(f"`{name}` holds a value twice", name)
    return tuple(values)


def _known_fields(table: Table, key: str, text: str, known: Mapping[str, Sequence[Parameter]]) -> None:
    """Raise where a text names a parameter that is not drawn, or leaves one out."""
    fields = _fields(table, key, text)
    for name in fields:
        if name not in known:
            remedy = "name one that [number.draw] has; a brace that is meant is written twice"
            raise table.error(f"`{key}` names {{{name}}}{nearest(name, known)}", key, remedy)
    for name in known:
        if name not in fields:
            raise table.error(f"`{key}` does not tell the candidate {{{name}}}", key)


def _fields(table: Table, key: str, text: str) -> list[str]:
    """The {names} in a text."""
    try:
        return [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise table.error(f"`{key}`: {error}", key, "a brace that is meant is written twice") from None


def _kernel(table: Table) -> KernelQuestion:
    table.allow("topic", "rung", "ask")
    return KernelQuestion(table.get("topic", str), table.get("rung", str), prose(table, "ask"), table.line())
