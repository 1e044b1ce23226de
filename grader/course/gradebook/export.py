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
    most = looked.assignment.most
    marks = []
    for person in people(course, looked, platform):
        standing = looked.standing(person.id)
        why = standing.why if standing.score is None else ""
        marks.append(Mark(person, standing.score, standing.penalty, why))
    called = column or name
    if template is None:
        own = canvas.table(called, marks, most) if platform == "canvas" else moodle.table(called, marks)
        return Export(marks, own, files_left_out(looked))
    fill = (
        canvas.fill(template, called, marks, most)
        if platform == "canvas"
        else moodle.fill(template, marks, most)
    )
    return Export(marks, fill, files_left_out(looked))


def people(course: CourseDirectory, looked: Class, platform: Platform) -> list[Student]:
    """All whom the roster, the gradebook or a folder names, by id. What the roster says of somebody counts."""
    with database.opened(course) as gradebook:
        known = names(gradebook)
    there = [
        roster.student(each, **dict(zip(roster.ABOUT, known.get(each, ()), strict=False)))
        for each in dict.fromkeys([*known, *looked.handed_in])
    ]
    people = roster.joined(there, roster.read(Path(course.root) / roster.FILE))
    taken = {number for person in people for number in person.called(platform)}
    found = [
        _as_collected(person, looked.handed_in[person.id].folder, platform, taken)
        if person.id in looked.handed_in
        else person
        for person in people
    ]
    return sorted(found, key=lambda person: person.id)


def _as_collected(person: Student, folder: Path, platform: Platform, taken: set[str]) -> Student:
    """With the number that the platform gave somebody in this assignment's download; not one that is another's."""
    origins = submitted.state(folder).origins.values()
    numbers = {origin.person for origin in origins if origin.platform == platform} - taken - {""}
    column = roster.IDS[platform][0]
    called = " ".join(sorted({*person.about.get(column, "").split(), *numbers}))
    return replace(person, about={**person.about, column: called}) if numbers else person
