"""`ladder course status`: how far a course got."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import JsonOption, console_for, write_structs
from grader.course.commands.options import CourseOption, course, needs_nbgrader
from grader.course.commands.tables import add, late, lines, say_if_at_least, table

if TYPE_CHECKING:
    from rich.table import Table

    from grader.course.gradebook.overview import Summary
    from grader.course.gradebook.standing import Standing

YES, NO = "✓", "–"


@course.command()
def status(
    assignment: Annotated[
        str | None, typer.Argument(metavar="[ASSIGNMENT]", help="Its students; all assignments if none.")
    ] = None,
    folder: CourseOption = Path(),
    json: JsonOption = None,
) -> None:
    """Say who handed in, who was late, and what is marked, autograded and fed back; and what to do next.

    Below the table stands what to look at before marks go out: the starter handed in, a rung of the ladder or another
    student's source, a notebook that shows more points than its kernel has, a source that could not be run or launches
    another topic's kernel, files that were left out, and who is not on the course's roster.csv.

    \b
    Examples:
      ladder course status
      ladder course status transpose --course cuda
    """
    needs_nbgrader()
    from grader.course import batch
    from grader.course.collecting import left_out
    from grader.course.gradebook import overview

    opened, marker = batch.open_course(folder)
    console = console_for(json == "-")
    if assignment is None:
        names = overview.assignments(opened)
        found = [overview.summary(name, overview.standings(opened, marker, name)) for name in names]
        console.print(
            _assignments(found) if found else "There is no assignment yet: nbgrader generate_assignment"
        )
        results: object = found
    else:
        students = overview.standings(opened, marker, assignment)
        console.print(_students(students))
        say_if_at_least(console, students)
        nobodys = [each for each in left_out.read(Path(marker.cache), assignment) if not each.student]
        lines(console, "Look at", [(item.student, note) for item in students if (note := _note(item))])
        lines(console, "Left out, of nobody that is known", [(each.file, each.why) for each in nobodys])
        console.print(f"\nNext: {overview.summary(assignment, students).next}", soft_wrap=True)
        results = students
    if json is not None:
        write_structs(json, results)


def _assignments(found: Sequence[Summary]) -> Table:
    """One line an assignment."""
    numbers = ("in", "late", "marked", "graded", "by hand", "fed back")
    made = table("assignment", *numbers, "next", numbers=numbers, wide="next")
    for item in found:
        counts = (item.submitted, item.late, item.marked, item.autograded, item.by_hand, item.feedback)
        add(made, item.assignment, *(str(count) for count in counts), item.next)
    return made


def _students(found: Sequence[Standing]) -> Table:
    """One line a student."""
    numbers = ("score", "penalty")
    made = table("student", "state", "late", *numbers, "by hand", "feedback", numbers=numbers)
    for item in found:
        score = NO if item.score is None else f"{item.score:g}"
        penalty = f"{item.penalty:g}" if item.penalty else NO
        signs = (YES if item.by_hand else NO, YES if item.feedback else NO)
        add(made, item.student, item.state, late(item.late_s, item.late_at_least), score, penalty, *signs)
    return made


def _note(item: Standing) -> str:
    """What there is to say of a student; "" where there is nothing."""
    why = item.why if item.state in ("unreadable", "autograded") else ""
    return "; ".join(filter(None, (why, item.look_at)))
