"""`ladder course extend`: a student's deadline moved."""

from __future__ import annotations

import math
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.options import JsonOption, console_for, write_structs
from grader.course.commands.options import AssignmentName, CourseOption, course, needs_nbgrader
from grader.course.commands.tables import add, late, table
from grader.errors import WarpladderError


@course.command()
def extend(
    assignment: AssignmentName,
    students: Annotated[
        list[str], typer.Argument(metavar="STUDENT...", help="Ids, as the gradebook has them.")
    ],
    days: Annotated[
        float, typer.Option("--days", min=0, max=3650, help="So many days after the due date.")
    ] = 0.0,
    hours: Annotated[float, typer.Option("--hours", min=0, max=87600, help="So many hours after it.")] = 0.0,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="TIME",
            help='Until then, such as "2025-04-02 23:59"; of this machine\'s time zone.',
        ),
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="Take an extension back.")] = False,
    folder: CourseOption = Path(),
    json: JsonOption = None,
) -> None:
    """Give students more time for an assignment, whether or not they have handed it in.

    An extension replaces an earlier one. What is collected or autograded from then on goes by it.

    \b
    Examples:
      ladder course extend transpose ada --days 2
      ladder course extend transpose ada bob --until "2025-04-02 23:59 UTC"
      ladder course extend transpose ada --none
    """
    needs_nbgrader()
    from grader.course import batch
    from grader.course.collecting import moments
    from grader.course.gradebook.extending import extend

    if sum((bool(days or hours), until is not None, none)) != 1 or math.isnan(days + hours):
        remedy = "give --days and --hours, or --until, or --none"
        raise WarpladderError("how much time is not clear", remedy=remedy)
    try:
        by = None if none else moments.read(until) if until else timedelta(days=days, hours=hours)
    except ValueError:
        raise WarpladderError(
            f"`{until}` is no time that can be read in one way", remedy='write it as "2025-04-02 23:59 UTC"'
        ) from None
    opened, _ = batch.open_course(folder)
    found = extend(opened, assignment, students, by)
    console = console_for(json == "-")
    made = table("student", "due", "extension")
    for item in found:
        add(made, item.student, f"{item.due:%Y-%m-%d %H:%M} UTC", late(item.extension_s))
    console.print(made)
    console.print(f"\nNext: ladder course autograde {assignment}", soft_wrap=True)
    if json is not None:
        write_structs(json, found)
