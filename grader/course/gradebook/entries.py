"""What the gradebook has of a class: each student's scores in one assignment, read at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)

from grader.course.preprocessors import of_gradebook
from grader.course.restore import Original
from grader.errors import WarpladderError

Scores = dict[str, float | None]
"""What autograding gave, by "notebook/cell"; null where a person has to."""


@dataclass(frozen=True)
class Assignment:
    """An assignment as it was released."""

    name: str
    notebooks: Mapping[str, list[Original]]  # each with its cells
    most: float  # points
    due: datetime | None  # UTC

    @property
    def digest(self) -> str:
        """Changes with what decides how marks become scores."""
        return digest(self.notebooks)


@dataclass(frozen=True)
class Entry:
    """What the gradebook has of one student's submission."""

    points: float  # without the penalty
    penalty: float
    by_hand: bool  # a person has to look at it
    extension: timedelta | None
    scores: Scores
    unscored: bool  # a cell has no score at all, neither ours nor a person's
    touched: bool  # a person gave points or wrote a comment
    digest: str  # changes with every score and comment

    @property
    def score(self) -> float:
        """The points that count, after the late policy's penalty."""
        return max(0.0, self.points - self.penalty)


def digest(of: Any) -> str:
    """The same for the same data, in every run."""
    return hashlib.sha256(msgspec.json.encode(of, order="deterministic")).hexdigest()


def released(gradebook: Gradebook, name: str) -> Any:
    """nbgrader's own object of an assignment. Raises WarpladderError where the gradebook does not know it."""
    try:
        return gradebook.find_assignment(name)
    except MissingEntry:
        remedy = f"nbgrader generate_assignment {name}"
        raise WarpladderError(f"there is no assignment `{name}` yet", remedy=remedy) from None


def assignment(gradebook: Gradebook, name: str) -> Assignment:
    """An assignment. Raises WarpladderError where the gradebook does not know it."""
    found = released(gradebook, name)
    notebooks = {str(notebook.name): of_gradebook(notebook) for notebook in found.notebooks}
    return Assignment(name, notebooks, float(found.max_score), found.duedate)


def entries(gradebook: Gradebook, name: str, student: str | None = None) -> dict[str, Entry]:
    """The submissions to an assignment, by student; of one student if given."""
    grades = _by_student(gradebook, Grade, name, student)
    comments = _by_student(gradebook, Comment, name, student)
    return {
        item.student_id: _entry(item, grades.get(item.student_id, {}), comments.get(item.student_id, {}))
        for item in _submissions(gradebook, name, student)
    }


def _submissions(gradebook: Gradebook, name: str, student: str | None) -> list[Any]:
    if student is None:
        return list(gradebook.assignment_submissions(name))
    try:
        return [gradebook.find_submission(name, student)]
    except MissingEntry:
        return []


def _by_student(
    gradebook: Gradebook, kind: type[Any], name: str, student: str | None
) -> dict[str, dict[str, Any]]:
    """Grades or comments by student, then by "notebook/cell"; in one query, where a class's objects take thousands."""
    found = (
        gradebook.db.query(SubmittedAssignment.student_id, Notebook.name, BaseCell.name, kind)
        .select_from(kind)
        .join(BaseCell, BaseCell.id == kind.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .filter(SubmittedAssignment.assignment.has(name=name))
    )
    if student is not None:
        found = found.filter(SubmittedAssignment.student_id == student)
    by_student: dict[str, dict[str, Any]] = {}
    for whose, notebook, cell, item in found:
        by_student.setdefault(whose, {})[f"{notebook}/{cell}"] = item
    return by_student


def _entry(submission: Any, grades: dict[str, Any], comments: dict[str, Any]) -> Entry:
    penalty = float(submission.late_submission_penalty or 0.0)
    given = {name: (item.manual_score, item.extra_credit) for name, item in grades.items()}
    said = {name: (item.auto_comment, item.manual_comment) for name, item in comments.items()}
    scores = {name: item.auto_score for name, item in grades.items()}
    return Entry(
        points=float(submission.score or 0.0),
        penalty=penalty,
        by_hand=bool(submission.needs_manual_grade),
        extension=submission.extension,
        scores=scores,
        unscored=any(item.auto_score is None and item.manual_score is None for item in grades.values()),
        touched=any(points is not None for pair in given.values() for points in pair)
        or any(manual for _, manual in said.values()),
        digest=digest([scores, given, said, penalty]),
    )


def names(gradebook: Gradebook) -> dict[str, tuple[str, str, str]]:
    """First name, last name and e-mail address of each student that the gradebook knows."""
    found: list[Student] = gradebook.students
    return {item.id: (item.first_name or "", item.last_name or "", item.email or "") for item in found}
