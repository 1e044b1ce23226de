"""Feedback pages by nbgrader, for those whose page is not there or shows something else than the gradebook."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from grader.course import batch
from grader.course.gradebook import database
from grader.course.gradebook.autograde import Bar, quiet
from grader.course.gradebook.converting import convert
from grader.course.gradebook.lock import alone
from grader.course.gradebook.standing import Class, look
from grader.course.preprocessors import MarkKernels


@dataclass(frozen=True)
class Page:
    """One student's feedback."""

    student: str
    made: bool  # by this run
    folder: str  # where it lies; "" where there is none that is up to date
    why: str  # there is none; "" where there is


def give(course: CourseDirectory, marker: MarkKernels, name: str, bar: Bar = quiet) -> list[Page]:
    """Make the feedback of an assignment, student by student. Raises WarpladderError where nothing was handed in,
    another run is at work, or the gradebook or the disk cannot be used."""
    with alone(Path(marker.cache), f"ladder course feedback {name}"):
        looked = look(course, marker, name)
        if not looked.handed_in:
            raise batch.nothing_submitted(course, name)
        standings = [looked.standing(student) for student in looked.handed_in]
        due = [item.student for item in standings if item.state == "autograded" and not item.feedback]
        failed = {}
        with bar("feedback", len(due)) as done:
            for student in due:
                failed[student] = _made(looked, student)
                done(student)
        pages = []
        for item in standings:
            why = failed.get(item.student, "" if item.state == "autograded" else item.why)
            folder = "" if why else course.format_path(course.feedback_directory, item.student, name)
            pages.append(Page(item.student, item.student in failed and not why, folder, why))
        return pages


def _made(looked: Class, student: str) -> str:
    """Make a student's pages, and remember of what; "" or why there are none."""
    error = convert(GenerateFeedback, looked.course, looked.assignment.name, student)
    if error is not None:
        return f"nbgrader: {error}"
    records = looked.records
    record = records.of(student)
    if record is not None:
        try:
            records.write(student, replace(record, feedback=looked.entries[student].digest))
        except OSError as full:
            raise database.no_room(records.marks, full) from None
    return ""
