"""What a class has learnt and what it has not: rungs that were reached, claims that hold, mistakes, points."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grader.course.overview.kept import Class, Kept, Unmarked
from grader.results import Grade
from grader.workbook.topic import Topic

BINS = 10
"""Parts of equal width that the points are sorted into; those who have none are apart."""

_QUOTED = re.compile(r"`[^`]*`")
_NUMBER = re.compile(r"\d[\d,.×]*")
_SENTENCE = re.compile(r"[:.,]\s|$")
HIDDEN_CASE = "right on public cases, and not on a hidden one"
WRONG_VALUES = "wrong values"
NO_END = "it does not end"


@dataclass(frozen=True)
class RungCount:
    """How many students a rung has."""

    rung: str
    reached: int  # this rung or a later one
    stayed: int  # this one, and none after it


@dataclass(frozen=True)
class ClaimCount:
    """How many kernels that are right a claim holds for."""

    rung: str
    text: str
    held: int
    failed: int
    first: int  # of those it fails for, how many it keeps from their next rung


@dataclass(frozen=True)
class Mistake:
    """A kind of mistake in kernels that are not right."""

    kind: str
    students: Sequence[str]
    example: str  # what the first one of them was told; "" where that is a hidden case


@dataclass(frozen=True)
class Part:
    """How many have points from `least` to `most`, both included."""

    least: int
    most: int
    students: int


@dataclass(frozen=True)
class Points:
    """How points are distributed."""

    most: int  # that can be earned
    mean: float
    median: float
    lowest: int
    highest: int
    parts: Sequence[Part]


@dataclass(frozen=True)
class Report:
    """One topic of an assignment, over all of the class that is marked."""

    topic: str
    title: str
    submitted: int
    marked: int
    passed: int
    rungs: Sequence[RungCount]
    claims: Sequence[ClaimCount]
    mistakes: Sequence[Mistake]  # the most frequent first
    points: Points
    unmarked: Sequence[Unmarked]


def of_class(found: Class) -> list[Report]:
    """A report for each topic of which marks are known."""
    return [
        _of_topic(topic, kept, found)
        for topic in found.topics
        if (kept := [item for item in found.kept if item.topic == topic])
    ]


def _of_topic(topic: Topic, kept: Sequence[Kept], found: Class) -> Report:
    grades = [item.marked.shown(topic) for item in kept]
    passed = [grade for grade in grades if grade.verdict == "pass"]
    return Report(
        topic=topic.name,
        title=topic.title,
        submitted=sum(item.topic == topic for item in found.submissions),
        marked=len(kept),
        passed=len(passed),
        rungs=_rungs(topic, passed),
        claims=_claims(topic, passed),
        mistakes=_mistakes(kept),
        points=_points(topic, grades),
        unmarked=[item for item in (*found.unread, *found.unmarked) if item.topic == topic.name],
    )


def _rungs(topic: Topic, passed: Sequence[Grade]) -> list[RungCount]:
    stayed = Counter(grade.rung_reached for grade in passed)
    ids = topic.ladder.ids
    return [
        RungCount(rung, sum(stayed[later] for later in ids[place:]), stayed[rung])
        for place, rung in enumerate(ids)
    ]


def _claims(topic: Topic, passed: Sequence[Grade]) -> list[ClaimCount]:
    held: Counter[tuple[str, str]] = Counter()
    failed: Counter[tuple[str, str]] = Counter()
    first = Counter((hint.rung, hint.claim) for grade in passed for hint in grade.hints[:1])
    for claim in (claim for grade in passed for claim in grade.claims):
        if claim.held is not None:
            (held if claim.held else failed)[claim.rung, claim.text] += 1
    keys = [(claim.rung, claim.text) for claim in topic.claims]
    return [ClaimCount(*key, held[key], failed[key], first[key]) for key in keys]


def _mistakes(kept: Sequence[Kept]) -> list[Mistake]:
    """Kinds of mistakes; a student with several has each of them."""
    students: dict[str, list[str]] = {}
    examples: dict[str, str] = {}
    for item in kept:
        for kind, example in dict(_of_mark(item)).items():
            students.setdefault(kind, []).append(item.student)
            examples.setdefault(kind, example)
    ordered = sorted(students, key=lambda kind: (-len(students[kind]), kind))
    return [Mistake(kind, students[kind], examples[kind]) for kind in ordered]


def _of_mark(item: Kept) -> Iterator[tuple[str, str]]:
    """The kinds of mistakes of one submission, each with what its student is told."""
    grade = item.marked.shown(item.topic)
    reason = grade.reason or ""
    if grade.verdict == "pass":
        return
    if item.marked.public.verdict == "pass":
        yield HIDDEN_CASE, ""
    elif grade.findings:
        for finding in grade.findings:
            yield finding.kind.replace("_", " "), finding.message
    elif grade.verdict == "timeout":
        yield NO_END, reason
    elif any(case.first_mismatch for case in grade.cases):
        yield WRONG_VALUES, reason
    else:
        yield _without_details(reason), reason


def _without_details(reason: str) -> str:
    """The beginning of a reason without its names and numbers, so that equal mistakes read the same."""
    general = _NUMBER.sub("…", _QUOTED.sub("…", reason.partition("\n")[0]))
    return general[: _SENTENCE.search(general).start()].strip()  # type: ignore[union-attr]  # it finds the end


def _points(topic: Topic, grades: Sequence[Grade]) -> Points:
    earned = [grade.points for grade in grades]
    most = topic.max_points
    edges = [most * place // BINS for place in range(BINS + 1)]
    parts = [Part(0, 0, earned.count(0))] + [
        Part(least + 1, last, sum(least < value <= last for value in earned))
        for least, last in pairwise(edges)
    ]
    return Points(
        most, statistics.fmean(earned), float(statistics.median(earned)), min(earned), max(earned), parts
    )
