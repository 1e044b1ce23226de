"""Coding rounds: `lessons/<topic>/interview.toml`, a ladder as an interviewer walks it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.errors import WarpladderError
from grader.interview.bank import HEAD, Entry, read_head
from grader.interview.points import Point, read_points
from grader.interview.reading import prose
from grader.workbook.content import content_root
from grader.workbook.expressions import Expression, nearest
from grader.workbook.strict_toml import Table, read
from grader.workbook.topic import Topic

FILE, FUNCTIONS = "interview.toml", "interview.py"
LEAST_ROUNDS, LEAST_ROUND_POINTS = 2, 2


@dataclass(frozen=True)
class Ratio:
    """A compute-to-memory ratio, or what stands for it where nothing is computed.

    It is asked of the version before a round and of the version that the round asks for, and computed from
    the counters of the candidate's own kernels.
    """

    text: str  # what exactly is to be divided by what
    unit: str
    value: Expression  # over what claims may name: sizes, counters, facts
    tolerance: float  # relative
    explain: str  # how it comes about, for the version that the round asks for
    line: int  # of interview.toml


@dataclass(frozen=True)
class Round:
    """One version: written, graded, talked about."""

    rung: str  # what the judge has to see it reach
    ask: str  # what the interviewer says
    hint: str
    answer: str  # what a senior engineer says of it: what limits it now, what next and why
    limits: tuple[Point, ...]  # what limits this version; weights sum to 100
    next: tuple[Point, ...]  # what next, and why; weights sum to 100
    ratio: Ratio | None
    line: int  # of interview.toml


@dataclass(frozen=True)
class Interview(Entry):
    """The coding rounds of one topic. `question` opens it, and `points` are what is to be said before any code."""

    topic: str
    minutes: int
    rounds: tuple[Round, ...]  # up the ladder

    @property
    def every_point(self) -> tuple[Point, ...]:
        """Those of the opening, then of each round."""
        return self.points + tuple(point for item in self.rounds for point in (*item.limits, *item.next))


def discover(topics: dict[str, Topic], root: Path | None = None) -> dict[str, Interview]:
    """The interviews there are, by topic; raises WarpladderError for a broken one, naming file and line."""
    lessons = (root or content_root()) / "lessons"
    return {
        name: read_interview(topic) for name, topic in topics.items() if (lessons / name / FILE).is_file()
    }


def read_interview(topic: Topic) -> Interview:
    """The interview of a topic; raises WarpladderError where there is none, or it is not complete."""
    path = topic.folder / FILE
    if not path.is_file():
        folders = sorted(item.parent.name for item in topic.folder.parent.glob(f"*/{FILE}"))
        message = f"there is no interview on {topic.name}"
        raise WarpladderError(message, remedy=f"there are interviews on {', '.join(folders)}")
    table = read(path.read_text(encoding="utf-8").splitlines(), path)
    table.allow(*HEAD, "minutes", "round")
    minutes = table.get("minutes", int)
    if not 5 <= minutes <= 180:
        raise table.error(f"`minutes` is {minutes}", "minutes", "an interview takes 45 minutes or so")
    rounds = tuple(_round(item, topic) for item in table.tables("round"))
    if len(rounds) < LEAST_ROUNDS:
        message = f"there are {len(rounds)} rounds, and {LEAST_ROUNDS} are needed"
        raise table.error(message, remedy="write a [[round]] for each version that is asked for")
    _climbing(table, rounds, topic)
    return Interview(**read_head(table, topic.name), topic=topic.name, minutes=minutes, rounds=rounds)


def _round(table: Table, topic: Topic) -> Round:
    table.allow("rung", "ask", "hint", "answer", "limit", "next", "ratio")
    rung, ids = table.get("rung", str), topic.ladder.ids
    if rung not in ids:
        message = f"{topic.name} has no rung `{rung}`{nearest(rung, ids)}"
        raise table.error(message, "rung", f"its rungs are {', '.join(ids)}")
    return Round(
        rung=rung,
        ask=prose(table, "ask"),
        hint=prose(table, "hint"),
        answer=prose(table, "answer"),
        limits=read_points(table, "limit", LEAST_ROUND_POINTS),
        next=read_points(table, "next", LEAST_ROUND_POINTS),
        ratio=_ratio(table.table("ratio")) if "ratio" in table.values else None,
        line=table.line(),
    )


def _ratio(table: Table) -> Ratio:
    table.allow("text", "unit", "value", "tolerance", "explain")
    tolerance = table.get("tolerance", float)
    if not 0 < tolerance <= 0.5:
        raise table.error(f"`tolerance` is {tolerance}", "tolerance", "relative, above 0: 0.1 are 10 %")
    value = table.expression("value")
    if value.is_condition:
        raise table.error(f"`value`: `{value.text}` is true or false, not a number", "value")
    return Ratio(
        prose(table, "text"), table.get("unit", str), value, tolerance, prose(table, "explain"), table.line()
    )


def _climbing(table: Table, rounds: tuple[Round, ...], topic: Topic) -> None:
    """Raise where the rounds do not go up the ladder from rung 0 to its top, or no ratio is asked."""
    ids = topic.ladder.ids
    places = [topic.ladder.place(item.rung) for item in rounds]
    headers = table.tables("round")
    for before, after, header in zip(places, places[1:], headers[1:], strict=False):
        if after <= before:
            raise header.error(f"{ids[after]} is not above {ids[before]}", "rung", "rounds go up the ladder")
    if places[0] != 0 or places[-1] != len(ids) - 1:
        remedy = f"begin with {ids[0]} and end with {ids[-1]}; rungs between may be left out"
        raise headers[0].error("the rounds do not go from the naive version to the top", remedy=remedy)
    if not any(item.ratio for item in rounds):
        raise table.error("no round asks for a ratio", remedy="add [round.ratio]")
