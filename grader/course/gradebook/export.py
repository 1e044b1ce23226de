"""The scores of an assignment for a learning platform: nbgrader's, after the late policy, and no unearned 0."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from nbgrader.coursedir import CourseDirectory

from grader.course import roster
from grader.course.collecting import submitted
from grader.course.collecting.left_out import LeftOut
from grader.course.gradebook import canvas, database, moodle
from grader.course.gradebook.doubts import files_left_out
from grader.course.gradebook.entries import names
from grader.course.gradebook.sheet import Filled, Mark
from grader.course.gradebook.standing import Class, look
from grader.course.preprocessors import MarkKernels
from grader.course.roster import Student

Platform = Literal["canvas", "moodle"]


@dataclass(frozen=True)
class Export:
    """What is to be written, and who is missing in it."""

    marks: list[Mark]  # of all students that the course knows
    filled: Filled
    left_out: list[LeftOut]  # files that no score is of


def export(
    course: CourseDirectory,
    marker: MarkKernels,
    name: str,
    platform: Platform,
    template: Path | None = None,
    column: str | None = None,
) -> Export:
    """The scores of an assignment as a platform takes them, in its own table if given; nothing is written.

    `column`: what the platform calls the assignment, if it is not our name. Raises WarpladderError for a table that is
    not the platform's, and for students who cannot be told apart.
    """
    looked = look(course, marker, name)
    most, left_out = looked.assignment.most, files_left_out(looked)
    marks = []
    for person in people(course, looked, platform):
        standing = looked.standing(person.id)
        why = standing.why if standing.score is None else ""
        if standing.state == "not submitted":
            own = [f"{each.file} was left out: {each.why}" for each in left_out if each.student == person.id]
            why = "; ".join(own) or why
        marks.append(Mark(person, standing.score, standing.penalty, why))
    called = column or name
    if template is None:
        table = canvas.table(called, marks, most) if platform == "canvas" else moodle.table(called, marks)
        return Export(marks, table, left_out)
    fill = (
        canvas.fill(template, called, marks, most)
        if platform == "canvas"
        else moodle.fill(template, marks, most)
    )
    return Export(marks, fill, left_out)


def people(course: CourseDirectory, looked: Class, platform: Platform) -> list[Student]:
    """All whom the roster, the gradebook, a folder or a file that was left out names, by id. What the roster says of
    somebody counts, and a number that the assignment's downloads had, unless it is another's by the roster."""
    with database.opened(course) as gradebook:
        known = names(gradebook)
    numbers = _collected(looked, platform)
    there = [
        roster.student(each, **dict(zip(roster.ABOUT, known.get(each, ()), strict=False)))
        for each in dict.fromkeys([*known, *numbers])
    ]
    people = roster.joined(there, roster.read(Path(course.root) / roster.FILE))
    taken = {number for person in people for number in person.called(platform)}
    found = [_called(person, numbers.get(person.id, set()) - taken, platform) for person in people]
    return sorted(found, key=lambda person: person.id)


def _collected(looked: Class, platform: Platform) -> dict[str, set[str]]:
    """What the platform calls those who handed in something; if it was all left out, and of one person."""
    found: dict[str, set[str]] = {}
    for student, handed_in in looked.handed_in.items():
        origins = submitted.state(handed_in.folder).origins.values()
        found[student] = {each.person for each in origins if each.platform == platform and each.person}
    alone: dict[str, set[str]] = {}
    for each in files_left_out(looked):
        if each.student and each.student not in found:
            numbers = alone.setdefault(each.student, set())
            numbers.update([each.person] if each.platform == platform and each.person else [])
    return found | {student: numbers if len(numbers) == 1 else set() for student, numbers in alone.items()}


def _called(person: Student, numbers: set[str], platform: Platform) -> Student:
    """The same, with what the platform calls somebody in this assignment's downloads."""
    column = roster.IDS[platform][0]
    called = " ".join(sorted({*person.about.get(column, "").split(), *numbers}))
    return replace(person, about={**person.about, column: called}) if numbers else person
