"""A course with the transpose as its assignment, whose judge is told by a submission's first line what it is worth."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from faked_marking import answer_by
from little_course import LittleCourse, little_course
from nbgrader.api import Gradebook

from grader.course.orders import Answer, Marked, Order
from grader.results import ClaimResult, Grade
from grader.workbook import topics

TRANSPOSE = topics.load("transpose")
TOTALS = {"none": 0, "00_naive": 10, "01_coalesced_writes": 25, "02_shared_tile": 50, "05_float4_tile": 100}
"""Points of a submission by the rung that its first line names."""
LOST = "lost"
"""In the first line of one whose process ends without an answer."""


def grade(rung: str) -> Grade:
    """Of a kernel that holds every claim up to a rung; of "none" it is wrong."""
    paid = TRANSPOSE.ladder.up_to(rung) if rung != "none" else ()
    return Grade(
        topic="transpose",
        file="mine.cu",
        verdict="pass" if paid else "fail",
        reason=None if paid else "It is wrong.",
        rung_reached=paid[-1] if paid else None,
        points=TOTALS[rung],
        max_points=100,
        cases=[],
        findings=[],
        claims=[
            ClaimResult(c.text, c.rung in paid, 2.0, c.rung, c.points, limit=1.0) for c in TRANSPOSE.claims
        ],
        hints=[],
    )


def ask(order: Order, seconds: float) -> Answer:
    """In place of the marking process: the first line of the source, "// RUNG", says what it is worth; else nothing."""
    rung = order.source.split()[1]
    if rung == LOST:
        return Answer(complaint="it ended with signal SIGKILL")
    rung = rung if rung in TOTALS else "none"
    return Answer(Marked(grade(rung), grade(rung) if rung != "none" else None))


def made(root: Path) -> Path:
    """A course with its assignment generated."""
    return little_course(root).root


def hand_in(root: Path, student: str, rung: str, words: str = "", at: str | None = None) -> Path:
    """Put a notebook whose kernel is worth a rung where nbgrader looks for it; returns it. `words` make it another."""
    LittleCourse(root).hand_in(**{student: f"// {rung} {words or student}\n"})
    path = root / "submitted" / student / "transpose" / "transpose.ipynb"
    if at is not None:
        (path.parent / "timestamp.txt").write_text(at, encoding="utf-8")
    return path


def copied(course: Path, folder: Path) -> Path:
    """A copy of a course that can be broken."""
    return shutil.copytree(course, folder / "cuda")


def with_judge(patch: pytest.MonkeyPatch) -> None:
    """No kernel is graded from now on."""
    answer_by(patch, ask)


def gradebook(root: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{root}/gradebook.db", "cuda")
