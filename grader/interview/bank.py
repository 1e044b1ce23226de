"""The bank of questions: `lessons/questions/<name>.toml`, with `<name>.py` where a probe is computed.

What a question and a coding round have in common is an `Entry`. Everything is read strictly: an unknown key, a
missing one, or weights that do not sum to 100 is an error with file and line.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from grader.errors import WarpladderError
from grader.interview import reading
from grader.interview.points import Point, read_points
from grader.interview.probes.kinds import Probe
from grader.interview.reading import Level, Source, at_least, prose
from grader.workbook.content import content_root
from grader.workbook.expressions import nearest
from grader.workbook.strict_toml import Table, read

FOLDER = "questions"
"""The folder below lessons/ that is no topic."""

HEAD = (
    "id", "title", "level", "as_of", "builds_on",
    "question", "answer", "looks_for", "follow_up", "common_error", "source", "point",
)  # fmt: skip
"""The keys of every entry."""

LEAST_POINTS, LEAST_FOLLOW_UPS, LEAST_ERRORS = 3, 2, 2

KINDS = ("hpc", "ai", "code", "misc")
"""What the list of what interviewers ask is divided into: how its ids begin."""

_ID = re.compile(rf"({'|'.join(KINDS)})-\d\d")


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
class KernelQuestion:
    """A version of a ladder that the candidate is asked to write."""

    topic: str
    rung: str
    ask: str
    line: int  # of the question's file


@dataclass(frozen=True)
class Entry:
    """What every question has. Texts are Markdown."""

    name: str  # such as "occupancy"
    id: str  # another name, of the list of what interviewers ask, such as "hpc-15"; "" for none
    title: str
    level: Level
    as_of: datetime.date  # until when its facts were looked up
    builds_on: tuple[str, ...]  # names of questions that come before
    question: str  # what the interviewer says
    answer: str  # what a senior engineer says in three minutes
    looks_for: str  # what the interviewer looks for in the answer
    follow_ups: tuple[FollowUp, ...]
    common_errors: tuple[CommonError, ...]
    sources: tuple[Source, ...]
    points: tuple[Point, ...]  # of the answer; weights sum to 100
    file: Path

    @property
    def every_point(self) -> tuple[Point, ...]:
        """All points that are to be said, in order."""
        return self.points

    @property
    def probes(self) -> list[Probe]:
        """All probes, in order."""
        return [probe for point in self.every_point for probe in point.probes]


class Head(TypedDict):
    """The fields of an Entry, to make one from."""

    name: str
    id: str
    title: str
    level: Level
    as_of: datetime.date
    builds_on: tuple[str, ...]
    question: str
    answer: str
    looks_for: str
    follow_ups: tuple[FollowUp, ...]
    common_errors: tuple[CommonError, ...]
    sources: tuple[Source, ...]
    points: tuple[Point, ...]
    file: Path


ROLES = ("kernels", "inference", "training")
"""Jobs that questions are drawn for."""

GENERAL = "general"
"""A job for which all are drawn, those on C++, operating systems and mathematics too."""


def known_role(role: str) -> str:
    """A role; raises WarpladderError for what is none."""
    if role not in (*ROLES, GENERAL):
        known = ", ".join((*ROLES, GENERAL))
        raise WarpladderError(
            f"there is no role `{role}`{nearest(role, [*ROLES, GENERAL])}", remedy=f"give {known}"
        )
    return role


@dataclass(frozen=True)
class Question(Entry):
    """One question of the bank."""

    topics: tuple[str, ...]  # the ladders it belongs to
    roles: tuple[str, ...]  # for which it is drawn; a general one besides
    kernels: tuple[KernelQuestion, ...]

    def is_for(self, role: str) -> bool:
        """Whether it is drawn for a role."""
        return role == GENERAL or role in self.roles

    @property
    def listed(self) -> dict[str, object]:
        """What a list says of it."""
        return {
            "name": self.name,
            "id": self.id,
            "title": self.title,
            "level": self.level,
            "topics": self.topics,
            "roles": self.roles,
            "builds_on": self.builds_on,
        }


def discover(root: Path | None = None) -> dict[str, Question]:
    """Every question under `root` (default: this installation's content), by name: in the list's order, then others.

    Raises WarpladderError for a broken one, naming file and line.
    """
    folder = (root or content_root()) / "lessons" / FOLDER
    found = [read_question(path) for path in sorted(folder.glob("*.toml"))]
    return {question.name: question for question in sorted(found, key=_place)}


def _place(question: Question) -> tuple[int, str, str]:
    """Where a question stands among others."""
    kind = question.id.partition("-")[0]
    return (KINDS.index(kind) if kind else len(KINDS), question.id, question.name)


def find(bank: Mapping[str, Question], name: str) -> Question:
    """The question with that name, or that id; raises WarpladderError."""
    ids = {question.id: question for question in bank.values() if question.id}
    found = bank.get(name) or ids.get(name)
    if found is None:
        message = f"there is no question `{name}`{nearest(name, [*bank, *ids])}"
        raise WarpladderError(message, remedy="`ladder quiz --list` shows every question")
    return found


def load(name: str, root: Path | None = None) -> Question:
    """The question with that name or id; raises WarpladderError."""
    return find(discover(root), name)


def read_question(path: Path) -> Question:
    """A question from its file; raises WarpladderError."""
    table = read(path.read_text(encoding="utf-8").splitlines(), path)
    table.allow(*HEAD, "topics", "roles", "kernel")
    roles = table.names("roles") if "roles" in table.values else ROLES
    if unknown := [role for role in roles if role not in ROLES]:
        raise table.error(f"`roles` names {unknown[0]!r}", "roles", f"its values are {', '.join(ROLES)}")
    if not reading.NAME.fullmatch(path.stem):
        raise table.error(
            f"it is called {path.stem!r}", remedy="small letters, digits and hyphens: memory-hierarchy"
        )
    return Question(
        **read_head(table, path.stem),
        topics=table.names("topics"),
        roles=roles,
        kernels=tuple(_kernel(item) for item in table.tables("kernel")),
    )


def read_head(table: Table, name: str) -> Head:
    """What every entry has; raises WarpladderError where it is not complete."""
    entry_id = table.get("id", str, "")
    if entry_id and not _ID.fullmatch(entry_id):
        raise table.error(f"`id` is {entry_id!r}", "id", "write it as hpc-01, ai-01, code-01 or misc-01")
    points = read_points(table, "point", LEAST_POINTS)
    return Head(
        name=name,
        id=entry_id,
        title=prose(table, "title"),
        level=reading.level(table),
        as_of=reading.as_of(table),
        builds_on=reading.builds_on(table),
        question=prose(table, "question"),
        answer=prose(table, "answer"),
        looks_for=prose(table, "looks_for"),
        follow_ups=tuple(_follow_up(item) for item in at_least(LEAST_FOLLOW_UPS, table, "follow_up")),
        common_errors=tuple(_common_error(item) for item in at_least(LEAST_ERRORS, table, "common_error")),
        sources=reading.sources(table),
        points=points,
        file=table.file,
    )


def _follow_up(table: Table) -> FollowUp:
    table.allow("ask", "answer")
    return FollowUp(prose(table, "ask"), prose(table, "answer"))


def _common_error(table: Table) -> CommonError:
    table.allow("says", "correction")
    return CommonError(prose(table, "says"), prose(table, "correction"))


def _kernel(table: Table) -> KernelQuestion:
    table.allow("topic", "rung", "ask")
    return KernelQuestion(table.get("topic", str), table.get("rung", str), prose(table, "ask"), table.line())
