"""`ladder course mark`: a whole class marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.course.options import AssignmentName, CourseOption, course, needs_nbgrader
from grader.cli.options import NOT_PASSED, PASSED, JsonOption, console_for, say_if_unconfined, write_structs
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from rich.table import Table

    from grader.course.batch import Row


@course.command()
def mark(
    assignment: AssignmentName,
    folder: CourseOption = Path(),
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Submissions marked at a time.")] = 2,
    again: Annotated[bool, typer.Option("--again", help="Also those that were marked before.")] = False,
    json: JsonOption = None,
) -> None:
    """Mark what a class has submitted, before nbgrader autogrades it.

    Each source is marked once, however often it comes again; `nbgrader autograde` then takes the marks from there. The
    table also says whose source is the ladder's own or another student's, but for names, comments and white space.

    \b
    Examples:
      ladder course mark transpose
      ladder course mark transpose --course cuda --jobs 4
    """
    needs_nbgrader()
    from grader.course import batch

    course_folder, marker = batch.open_course(folder)
    collected = list(batch.collect(course_folder, marker.topics, assignment))
    submissions = [item for item in collected if isinstance(item, batch.Submission)]
    absent = [item for item in collected if isinstance(item, batch.Row)]
    if not collected:
        where = Path(course_folder.submitted_directory) / "STUDENT" / assignment
        raise WarpladderError(
            f"nobody has submitted anything to `{assignment}`", remedy=f"put it into {where}"
        )
    say_if_unconfined()
    with _bar(assignment, len({(item.topic.name, item.source) for item in submissions})) as done:
        marked = batch.mark(marker, submissions, jobs, again, done)
    rows = sorted([*absent, *marked], key=lambda row: (row.student, row.topic))
    console = console_for(json == "-")
    console.print(_table(rows))
    if json is not None:
        write_structs(json, rows)
    raise typer.Exit(NOT_PASSED if any(row.grade is None for row in rows) else PASSED)


@contextmanager
def _bar(name: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar over the sources of a class."""
    from grader.report import progress

    with progress.of_items(name, total) as done:
        yield done


def _table(rows: Sequence[Row]) -> Table:
    """One line a submission: verdict, rung, points, and what to look at."""
    from rich.table import Table
    from rich.text import Text

    from grader.report.console import VERDICT_STYLES
    from grader.workbook.units import NOTHING

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in ("student", "verdict", "rung"):
        table.add_column(column, no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column("points", justify="right")
    table.add_column("note", ratio=1)
    for row in rows:
        grade = row.grade
        if grade is None:
            table.add_row(row.student, Text("not marked", "red"), NOTHING, NOTHING, row.note)
            continue
        verdict = Text(grade.verdict, VERDICT_STYLES[grade.verdict])
        points = f"{grade.points}/{grade.max_points}"
        table.add_row(row.student, verdict, grade.rung_reached or NOTHING, points, row.note)
    return table
