"""How far each student's submission got: handed in, marked, autograded, looked at by hand, fed back."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc

from grader.course import batch
from grader.course.collecting import submitted
from grader.course.folder import TIMESTAMP
from grader.course.gradebook import database
from grader.course.gradebook.entries import Assignment, Entry, assignment, digest, entries
from grader.course.gradebook.records import Autograded, Records
from grader.course.preprocessors import MarkKernels
from grader.results import Grade

Marks = Mapping[str, Grade]
"""A student's marks, by topic."""

State = Literal["not submitted", "unreadable", "not marked", "to autograde", "autograded"]


@dataclass(frozen=True)
class HandedIn:
    """What one student handed in to an assignment."""

    folder: Path
    digest: str  # of all its files; "" where they cannot be read
    kernels: tuple[batch.Submission, ...]
    problem: str  # why it cannot be marked; "" where it can
    at: datetime | None  # UTC; null where nobody wrote it down
    at_or_later: bool = False  # late, says the platform, and not by how much


@dataclass(frozen=True)
class Standing:
    """One student and one assignment."""

    student: str
    state: State
    why: str  # of what is missing; "" where nothing is
    late_s: float = 0.0  # seconds
    marked: bool = False
    score: float | None = None  # after the late policy's penalty; null without a mark that is up to date
    penalty: float = 0.0  # points
    by_hand: bool = False  # a person has to look at it
    feedback: bool = False  # there is feedback, and it is up to date
    look_at: str = ""  # what a person should look at, see `doubts`
    late_at_least: bool = False  # late by `late_s` or more: by how much is not known


@dataclass(frozen=True)
class Class:
    """An assignment, what was handed in to it, and what the gradebook has of it."""

    course: CourseDirectory
    marker: MarkKernels
    assignment: Assignment
    handed_in: Mapping[str, HandedIn]  # by student
    entries: Mapping[str, Entry]  # by student

    @property
    def records(self) -> Records:
        return records(self.marker, self.assignment.name)

    @property
    def kernels(self) -> list[batch.Submission]:
        """All that can be marked."""
        return [kernel for item in self.handed_in.values() if not item.problem for kernel in item.kernels]

    def stale(self, student: str, marks: Marks) -> bool:
        """Whether what was handed in, its marks and the gradebook differ. `marks` are those known: where one of a
        submission that did not change is missing, what it was autograded with counts."""
        record, entry, handed_in = (
            self.records.of(student),
            self.entries.get(student),
            self.handed_in[student],
        )
        if record is None or entry is None or not self._autograded(student):
            return True
        known = len(marks) == len(handed_in.kernels)
        return (
            record.submitted != handed_in.digest
            or record.scores != entry.scores
            or (known and record.made_of != self.made_of(marks))
        )

    def made_of(self, marks: Marks) -> str:
        """Changes with the assignment and with the marks that a submission is autograded with."""
        return digest([self.assignment.digest, marks])

    def late_s(self, student: str) -> float:
        """Seconds after the student's deadline, as nbgrader counts them; 0 in time, or where a time is not known."""
        entry, at, due = self.entries.get(student), self.handed_in[student].at, self.assignment.due
        if at is None or due is None:
            return 0.0
        extended = due + entry.extension if entry is not None and entry.extension is not None else due
        return max(0.0, (at - extended).total_seconds())

    def known(self, student: str) -> dict[str, Grade]:
        """The marks of a submission that are kept."""
        found = {}
        for kernel in self.handed_in[student].kernels:
            mark = self.marker.marker.known(kernel.topic, kernel.source)
            if mark is not None:
                found[kernel.topic.name] = mark.shown(kernel.topic)
        return found

    def standing(self, student: str) -> Standing:
        """How far a student's submission got; of anybody, also of who handed in nothing."""
        if student not in self.handed_in:
            return self._without_files(student)
        found = self._with_files(student)
        return replace(found, late_at_least=found.late_s > 0 and self.handed_in[student].at_or_later)

    def _with_files(self, student: str) -> Standing:
        handed_in, marks = self.handed_in[student], self.known(student)
        current = not handed_in.problem and not self.stale(student, marks)
        late_s = self.late_s(student)
        if current:
            return self._counted(student, late_s, self.fed_back(student))
        if handed_in.problem:
            return Standing(student, "unreadable", handed_in.problem, late_s)
        if len(marks) == len(handed_in.kernels):
            why = "it is not autograded, or was changed since"
            return Standing(student, "to autograde", why, late_s, marked=True)
        return Standing(student, "not marked", "it is not marked", late_s)

    def _without_files(self, student: str) -> Standing:
        """Of who handed in nothing that is here; the gradebook may have points all the same, given by a person."""
        if student in self.entries and not self.entries[student].unscored:
            return self._counted(student, 0.0, False)
        return Standing(student, "not submitted", "nothing was handed in")

    def _counted(self, student: str, late_s: float, feedback: bool) -> Standing:
        """Of whose score in the gradebook counts, unless a person still has to give points."""
        entry = self.entries[student]
        score = None if entry.unscored else entry.score
        why = "it has cells that need manual grading" if entry.unscored else ""
        return Standing(
            student, "autograded", why, late_s, True, score, entry.penalty, entry.by_hand, feedback
        )

    def fed_back(self, student: str) -> bool:
        """Whether a student's feedback is there and shows what the gradebook has."""
        record = self.records.of(student)
        pages = self._there(self.course.feedback_directory, student, ".html")
        return record is not None and record.feedback == self.entries[student].digest and pages

    def _autograded(self, student: str) -> bool:
        return self._there(self.course.autograded_directory, student, ".ipynb")

    def _there(self, step: str, student: str, suffix: str) -> bool:
        """Whether there is a file of nbgrader's for each notebook that was handed in."""
        folder = Path(self.course.format_path(step, student, self.assignment.name))
        submitted = self.handed_in[student].folder
        names = [name for name in self.assignment.notebooks if (submitted / f"{name}.ipynb").exists()]
        return all((folder / f"{name}{suffix}").is_file() for name in names)


def records(marker: MarkKernels, name: str) -> Records:
    """Where the records of an assignment lie."""
    return Records(Path(marker.cache), name)


def look(course: CourseDirectory, marker: MarkKernels, name: str) -> Class:
    """An assignment as it stands. Raises WarpladderError where there is none of that name."""
    with database.opened(course) as gradebook:
        about = assignment(gradebook, name)
        known = entries(gradebook, name)
    collected: dict[str, list[batch.Submission | batch.Row]] = {}
    for item in batch.collect(course, marker.topics, name):
        collected.setdefault(item.student, []).append(item)
    handed_in = {
        student: _handed_in(student, folder, collected.get(student, []))
        for student, folder in batch.folders(course, name).items()
    }
    return Class(course, marker, about, handed_in, known)


def _handed_in(student: str, folder: Path, items: Sequence[batch.Submission | batch.Row]) -> HandedIn:
    kernels = tuple(item for item in items if isinstance(item, batch.Submission))
    problems = [item.note for item in items if isinstance(item, batch.Row) and not item.absent]
    if glob.escape(student) != student:  # it would take another's notebook for this student's
        problems.append("to nbgrader the folder's name is a pattern: take [, ], * and ? out of it")
    files, at = "", None
    try:
        files = _digest(folder)
        at = _time(folder / TIMESTAMP)
    except OSError as error:
        problems.append(f"{Path(error.filename or folder).name} cannot be read: {error.strerror}")
    except (ValueError, OverflowError):  # what dateutil raises for what is no time
        problems.append(f"{TIMESTAMP} holds no time such as 2025-03-31 23:59:00 UTC")
    return HandedIn(folder, files, kernels, "; ".join(problems), at, _at_or_later(folder, at))


def _at_or_later(folder: Path, at: datetime | None) -> bool:
    """Whether a time is what was told of something that a platform calls late without saying by how much."""
    return at is not None and any(
        origin.late and not origin.exact and origin.told == at.replace(tzinfo=UTC)
        for origin in submitted.state(folder).origins.values()
    )


def _digest(folder: Path) -> str:
    """Changes with the files that were handed in: with their names, and with what they hold. Of what is no file, such
    as a pipe that would never end, the name alone counts."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        total.update(os.fsencode(path.relative_to(folder)) + b"\0")
        if path.is_file():
            with path.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _time(path: Path) -> datetime | None:
    """When a submission was handed in, UTC, as nbgrader reads it; None without a file that says so."""
    text = path.read_text(encoding="utf-8").strip() if path.is_file() else ""
    return parse_utc(text) if text else None


def record(looked: Class, student: str, marks: Marks, scores: dict[str, float | None]) -> Autograded:
    """What is to be remembered of a submission that was autograded."""
    return Autograded(looked.handed_in[student].digest, looked.made_of(marks), scores)
