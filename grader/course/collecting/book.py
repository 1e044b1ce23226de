"""What nbgrader's gradebook knows of an assignment and of the class, and students added to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory

from grader.course import roster
from grader.course.collecting.answers import NOTEBOOK, Released
from grader.course.gradebook import entries
from grader.course.preprocessors import of_gradebook
from grader.course.roster import Student
from grader.errors import WarpladderError
from grader.workbook.topic import Topic


@dataclass(frozen=True)
class Assignment:
    """An assignment, as the gradebook has it."""

    name: str
    notebooks: Sequence[Released]
    due: datetime | None  # in UTC
    extended: Mapping[str, datetime]  # due dates of students whose own is another

    def due_for(self, student: str) -> datetime | None:
        """When a student's work is due."""
        return self.extended.get(student, self.due)


def assignment(opened: Any, course: CourseDirectory, topics: Mapping[str, Topic], name: str) -> Assignment:
    """What the gradebook knows of an assignment. Raises WarpladderError for one that it does not know."""
    found = entries.released(opened, name)
    folder = Path(course.format_path(course.release_directory, ".", name))
    notebooks = [_released(notebook, folder, topics) for notebook in found.notebooks]
    if not notebooks:
        remedy = f"nbgrader generate_assignment {name}"
        raise WarpladderError(f"`{name}` has no notebook to hand in yet", remedy=remedy)
    extended = {
        submission.student.id: _utc(submission.duedate)
        for submission in found.submissions
        if submission.extension is not None and submission.duedate is not None
    }
    return Assignment(name, notebooks, found.duedate and _utc(found.duedate), extended)


def _released(notebook: Any, folder: Path, topics: Mapping[str, Topic]) -> Released:
    """A notebook, which lies in `folder`."""
    cells = of_gradebook(notebook)
    kernels = [(topics[cell.topic], cell) for cell in cells if cell.topic and cell.topic in topics]
    return Released(notebook.name, folder / f"{notebook.name}{NOTEBOOK}", kernels, cells)


def _utc(naive: datetime) -> datetime:
    return naive.replace(tzinfo=UTC)


def students(opened: Any) -> list[Student]:
    """The class."""
    return [
        roster.student(each.id, **{column: getattr(each, column) for column in roster.ABOUT})
        for each in opened.students
    ]


def enrol(opened: Any, known: Sequence[Student], wanted: Sequence[Student]) -> None:
    """Add students, and what is known of them, where the gradebook does not have it yet."""
    had = {each.id: each for each in known}
    for each in wanted:
        about = {column: text for column, text in each.about.items() if column in roster.ABOUT}
        if each.id not in had or any(
            had[each.id].about.get(column) != text for column, text in about.items()
        ):
            opened.update_or_create_student(each.id, **about)
