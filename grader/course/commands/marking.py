"""`ladder course mark`: a whole class marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from grader.cli.options import NOT_PASSED, PASSED, JsonOption, console_for, say_if_unconfined, write_structs
from grader.course.commands.options import (
    AgainOption,
    AssignmentName,
    CourseOption,
    EngineOption,
    JobsOption,
    SchedulerOption,
    course,
    needs_nbgrader,
)
from grader.course.commands.tables import add, table

if TYPE_CHECKING:
    from rich.table import Table

    from grader.course.batch import Row


@course.command()
def mark(
    assignment: AssignmentName,
    folder: CourseOption = Path(),
    jobs: JobsOption = 2,
    engine: EngineOption = "threads",
    scheduler: SchedulerOption = None,
    again: AgainOption = False,
    json: JsonOption = None,
) -> None:
    """Mark what a class has submitted, before nbgrader autogrades it.

    Each source is marked once, however often it comes again; `nbgrader autograde` then takes the marks from there. The
    table also says whose source is the ladder's own or another student's, but for names, comments and white space.

    \b
    Examples:
      ladder course mark transpose
      ladder course mark transpose --course cuda --jobs 4
      ladder course mark transpose --engine dask --scheduler tls://head:8786
    """
    needs_nbgrader()
    from grader.course import batch
    from grader.course.engines import opening
    from grader.report import progress

    course_folder, marker = batch.open_course(folder)
    collected = list(batch.collect(course_folder, marker.topics, assignment))
    submissions = [item for item in collected if isinstance(item, batch.Submission)]
    absent = [item for item in collected if isinstance(item, batch.Row)]
    if not collected:
        raise batch.nothing_submitted(course_folder, assignment)
    say_if_unconfined()
    total = len({(item.topic.name, item.source) for item in submissions})
    with opening.opened(engine, jobs, scheduler) as started, progress.of_items(assignment, total) as done:
        marked = batch.mark(marker, submissions, started, again, done)
    rows = sorted([*absent, *marked], key=lambda row: (row.student, row.topic))
    console = console_for(json == "-")
    console.print(_table(rows))
    if json is not None:
        write_structs(json, rows)
    unmarked = any(row.grade is None and not row.absent for row in rows)
    raise typer.Exit(NOT_PASSED if unmarked else PASSED)


def _table(rows: Sequence[Row]) -> Table:
    """One line a submission: verdict, rung, points, and what to look at."""
    from rich.text import Text

    from grader.report.console import VERDICT_STYLES
    from grader.workbook.units import NOTHING

    made = table("student", "verdict", "rung", "points", "note", numbers=("points",), wide="note")
    for row in rows:
        grade = row.grade
        if grade is None:
            state = Text("not handed in", "yellow") if row.absent else Text("not marked", "red")
            add(made, row.student, state, NOTHING, NOTHING, row.note)
            continue
        verdict = Text(grade.verdict, VERDICT_STYLES[grade.verdict])
        points = f"{grade.points}/{grade.max_points}"
        add(made, row.student, verdict, grade.rung_reached or NOTHING, points, row.note)
    return made
