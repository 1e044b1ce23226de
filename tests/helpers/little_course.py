"""A course of one assignment, the transpose, for tests that mark nothing: submissions, and marks that are made up."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from faked_marking import answer_by
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import PyFileConfigLoader

from grader.course import batch
from grader.course.folder import CONFIG, create
from grader.course.orders import Answer, Marked, Order
from grader.judge.grade import refused
from grader.results import ClaimResult, Grade, Hint, Verdict
from grader.workbook import topics

TRANSPOSE = topics.load("transpose")


@dataclass(frozen=True)
class LittleCourse:
    """A course's folder."""

    root: Path

    def released(self) -> Any:
        """The notebook that learners are given."""
        return json.loads((self.root / "release/transpose/transpose.ipynb").read_text(encoding="utf-8"))

    def notebook(self, source: str) -> str:
        """The released notebook with a source in its kernel's cell."""
        found = self.released()
        for cell in found["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "kernel-transpose":
                cell["source"] = f"%%kernel mine --topic transpose\n{source}"
        return json.dumps(found)

    def hand_in(self, **sources: str) -> None:
        """Submissions by student."""
        for student, source in sources.items():
            folder = self.root / "submitted" / student / "transpose"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "transpose.ipynb").write_text(self.notebook(source), encoding="utf-8")

    def mark(self, monkeypatch: pytest.MonkeyPatch, **marks: Marked) -> None:
        """Keep a mark of each student's submission, which says nothing but its student's name."""
        self.hand_in(**{student: f"// {student}\nint {student};" for student in marks})
        course, marker = batch.open_course(self.root)

        def ask(order: Order, seconds: float) -> Answer:
            return Answer(marks[order.source.split()[1]])

        answer_by(monkeypatch, ask)
        for item in batch.collect(course, marker.topics, "transpose"):
            if isinstance(item, batch.Submission):
                marker.marker.mark(item.topic, item.source)


def little_course(folder: Path) -> LittleCourse:
    """One with its assignment released, in a folder that is not there yet."""
    return copied(LittleCourse(Path(_released().name, "cuda")), folder)


@cache
def _released() -> TemporaryDirectory[str]:
    """The folder with the course that all are copies of, made once a process: to release takes nbgrader seconds."""
    made = TemporaryDirectory(prefix="warpladder-little-course-")
    create(Path(made.name, "cuda"), [TRANSPOSE], "cuda")
    release(Path(made.name, "cuda"))
    return made


def release(folder: Path) -> None:
    """Have nbgrader generate the assignment from its source."""
    config = PyFileConfigLoader(CONFIG, str(folder)).load_config()
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with patch.dict(os.environ, {"PATH": programs}):  # where nbgrader finds alembic
        made = NbGraderAPI(CourseDirectory(config=config), config=config).generate_assignment("transpose")
    assert made["success"], made["log"]


def copied(made: LittleCourse, folder: Path) -> LittleCourse:
    """The same course in another folder, for a test of its own."""
    return LittleCourse(Path(shutil.copytree(made.root, folder)))


def right(reached: str = "03_padded_tile", **changed: object) -> Marked:
    """The mark of a kernel that is right and reaches a rung."""
    up_to = TRANSPOSE.ladder.up_to(reached)
    claims = [ClaimResult(c.text, c.rung in up_to, 2.0, c.rung, c.points) for c in TRANSPOSE.claims]
    missing = [claim for claim in claims if not claim.held]
    grade = replace(
        refused(TRANSPOSE, "mine.cu", "pass", ""),
        reason=None,
        rung_reached=reached,
        points=sum(claim.points for claim in claims if claim.held),
        claims=claims,
        hints=[Hint(missing[0].rung, "Try it.", missing[0].text)] if missing else [],
    )
    grade = replace(grade, **changed)
    return Marked(grade, grade)


def wrong(verdict: Verdict = "fail", reason: str = "It is wrong.", **changed: object) -> Marked:
    """The mark of a kernel that a public case refuses."""
    return Marked(replace(refused(TRANSPOSE, "mine.cu", verdict, reason), **changed))


def wrong_when_hidden(secret: str) -> Marked:
    """The mark of one that only a hidden case refuses, in words that nobody may see."""
    there: Grade = refused(TRANSPOSE, "mine.cu", "fail", f"wrong where M={secret}")
    return Marked(right().public, there)
