"""A course at a glance: how many got how far in each assignment, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from grader.course import roster
from grader.course.gradebook import database, doubts
from grader.course.gradebook.standing import Standing, look
from grader.course.preprocessors import MarkKernels


@dataclass(frozen=True)
class Summary:
    """An assignment in numbers of students."""

    assignment: str
    submitted: int
    late: int
    marked: int
    autograded: int  # and up to date
    by_hand: int  # wait for a person
    feedback: int
    next: str  # what to do


def assignments(course: CourseDirectory) -> list[str]:
    """Those that the gradebook knows."""
    with database.opened(course) as gradebook:
        return sorted(str(item.name) for item in gradebook.assignments)


def standings(course: CourseDirectory, marker: MarkKernels, name: str) -> list[Standing]:
    """Each student of an assignment, and of the roster, by name."""
    looked = look(course, marker, name)
    listed = (person.id for person in roster.read(Path(course.root) / roster.FILE))
    doubtful = doubts.of_class(looked)
    students = {*looked.handed_in, *looked.entries, *listed, *doubtful}
    return [
        replace(looked.standing(student), look_at=doubtful.get(student, "")) for student in sorted(students)
    ]


def summary(name: str, students: Sequence[Standing]) -> Summary:
    """The numbers of an assignment."""
    submitted = [item for item in students if item.state != "not submitted"]
    return Summary(
        assignment=name,
        submitted=len(submitted),
        late=sum(item.late_s > 0 for item in submitted),
        marked=sum(item.marked for item in submitted),
        autograded=sum(item.state == "autograded" for item in submitted),
        by_hand=sum(item.by_hand for item in submitted),
        feedback=sum(item.feedback for item in submitted),
        next=_next(name, submitted),
    )


def _next(name: str, submitted: Sequence[Standing]) -> str:
    states = {item.state for item in submitted}
    if not submitted:
        return "nothing was handed in yet"
    if states & {"not marked", "to autograde"}:
        return f"ladder course autograde {name}"
    if any(item.by_hand for item in submitted):
        return "grade by hand, in formgrader"
    if any(item.state == "autograded" and not item.feedback for item in submitted):
        return f"ladder course feedback {name}"
    if "unreadable" in states:
        return f"see to those that cannot be read: ladder course status {name}"
    return f"ladder course export {name}"
