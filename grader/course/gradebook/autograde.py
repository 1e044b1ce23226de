"""A class autograded by nbgrader, where what was handed in, its mark and the gradebook differ, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import nbformat
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties

from grader.course import batch, feedback
from grader.course.assignment import rung_cell
from grader.course.collecting.collect import told_anew
from grader.course.engines.engine import Engine
from grader.course.gradebook import database, doubts
from grader.course.gradebook.converting import convert
from grader.course.gradebook.entries import entries
from grader.course.gradebook.lock import alone
from grader.course.gradebook.records import sweep
from grader.course.gradebook.sparing import spared
from grader.course.gradebook.standing import Class, Marks, Standing, look, record
from grader.course.preprocessors import MarkKernels
from grader.results import Grade

Bar = Callable[[str, int], AbstractContextManager[Callable[[str], None]]]
"""What shows how far it is: given a name and how many there are, it yields what to call with each that is done."""

Did = Literal["autograded", "up to date", "not marked", "not autograded"]

_ENOUGH = 1e-6
"""Points that are closer are the same."""


@dataclass(frozen=True)
class Outcome:
    """What a run did with one student's submission, and how it stands now."""

    did: Did
    standing: Standing
    note: str  # why there is nothing in the gradebook, or something else than the mark


@contextmanager
def quiet(name: str, total: int) -> Iterator[Callable[[str], None]]:
    """No bar."""
    yield lambda item: None


def autograde(
    course: CourseDirectory,
    marker: MarkKernels,
    name: str,
    engine: Engine | None = None,
    again: bool = False,
    bar: Bar = quiet,
) -> list[Outcome]:
    """Have an engine mark what was handed in to an assignment, and autograde what differs; student by student.

    `again`: mark what was marked before, too. Safe to be killed, and to be run again. Raises WarpladderError where
    nothing was handed in, another run is at work, or the gradebook or the disk cannot be used.
    """
    with alone(Path(marker.cache), f"ladder course autograde {name}"):
        sweep(Path(marker.cache))
        told_anew(course, marker.topics, name)
        looked = look(course, marker, name)
        if not looked.handed_in:
            raise batch.nothing_submitted(course, name)
        marks, notes = _marks(looked, engine, again, bar)
        did: dict[str, Did] = {
            student: "not marked" if student in notes else "up to date" for student in marks
        }
        stale = [
            student for student in marks if student not in notes and looked.stale(student, marks[student])
        ]
        if stale:
            database.copied(course)
        with bar("autograding", len(stale)) as done, spared():
            for student in stale:
                said = _autograded(looked, student, marks[student])
                did[student] = "not autograded" if said else "autograded"
                if said:
                    notes[student] = said
                done(student)
        _settle(looked, notes)
        with database.opened(course) as gradebook:
            looked = replace(looked, entries=entries(gradebook, name))
        doubtful = doubts.of_class(looked)
        return [
            Outcome(
                did[student],
                replace(looked.standing(student), look_at=doubtful.get(student, "")),
                _kept(looked, student, notes.get(student, "")),
            )
            for student in sorted(marks)
        ]


def _marks(
    looked: Class, engine: Engine | None, again: bool, bar: Bar
) -> tuple[dict[str, dict[str, Grade]], dict[str, str]]:
    """Each student's marks, by topic, and why there are none for those who have not all of them."""
    marks: dict[str, dict[str, Grade]] = {student: {} for student in looked.handed_in}
    notes = {student: item.problem for student, item in looked.handed_in.items() if item.problem}
    kernels = looked.kernels
    with bar("marking", len({(item.topic.name, item.source) for item in kernels})) as done:
        rows = batch.mark(looked.marker, kernels, engine, again, done)
    for row in rows:
        if row.grade is None:
            notes[row.student] = row.note
        else:
            marks[row.student][row.topic] = row.grade
    return marks, notes


def _autograded(looked: Class, student: str, marks: Marks) -> str:
    """Have nbgrader autograde one submission, and remember it once the gradebook has its marks; "" or why not."""
    course, name, records = looked.course, looked.assignment.name, looked.records
    records.forget(student)
    failed = convert(Autograde, course, name, student)
    if failed is not None:
        return f"nbgrader: {failed}"
    with database.opened(course, look=False) as gradebook:
        entry = entries(gradebook, name, student)[student]
    wrong = [
        f"`{cell}` has {entry.scores.get(cell)} points in the gradebook, and its mark is {points:g}"
        for cell, points in _expected(looked, student, marks).items()
        if abs((entry.scores.get(cell) or 0.0) - points) > _ENOUGH
    ]
    if wrong:
        return "; ".join(wrong)
    try:
        records.write(student, record(looked, student, marks, entry.scores))
    except OSError as error:
        raise database.no_room(records.marks, error) from None
    return ""


def _expected(looked: Class, student: str, marks: Marks) -> dict[str, float]:
    """The points that a student's marks give, by "notebook/cell"."""
    found = {}
    for kernel in looked.handed_in[student].kernels:
        prefix = rung_cell(kernel.topic.name, "")
        for notebook, cells in looked.assignment.notebooks.items():
            for cell in cells:
                if cell.points is not None and cell.grade_id.startswith(prefix):
                    rung, grade = cell.grade_id.removeprefix(prefix), marks[kernel.topic.name]
                    points = feedback.scaled(kernel.topic, grade, rung, cell.points)
                    found[f"{notebook}/{cell.grade_id}"] = points
    return found


def _settle(looked: Class, left_out: Iterable[str]) -> None:
    """Have the gradebook's rest as it should be.

    nbgrader's late policy is applied to what is late, or was: deadlines, extensions, points and the policy itself may
    have changed since a submission was autograded. What a run that failed or was killed began, and gave no point, is
    taken out: it would count 0.
    """
    course, name = looked.course, looked.assignment.name
    policy = AssignLatePenalties(config=course.config)
    with database.opened(course) as gradebook:
        known = entries(gradebook, name)
        for submission in gradebook.assignment_submissions(name):
            student = submission.student_id
            if submission.total_seconds_late > 0 or known[student].penalty:
                for notebook in looked.assignment.notebooks:
                    about = {
                        "student": student,
                        "assignment": name,
                        "notebook": notebook,
                        "db_url": course.db_url,
                    }
                    policy.preprocess(nbformat.v4.new_notebook(), {"nbgrader": about})
        for student in known.keys() & set(left_out):
            entry = known[student]
            unscored = not entry.touched and all(score is None for score in entry.scores.values())
            if unscored and entry.extension is None:
                gradebook.remove_submission(name, student)


def _kept(looked: Class, student: str, note: str) -> str:
    if not note or student not in looked.entries:
        return note
    return f"{note}; the gradebook has what was autograded before"
