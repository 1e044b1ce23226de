"""`ladder course report`: a class as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.options import (
    HtmlOption,
    JsonOption,
    check_outputs,
    console_for,
    file_of,
    write_file,
    write_structs,
)
from grader.course.commands.options import AssignmentName, CourseOption, course, needs_nbgrader

if TYPE_CHECKING:
    from rich.console import RenderableType

    from grader.course.overview.report import Report

BAR = 24  # columns that stand for everybody


@course.command()
def report(
    assignment: AssignmentName,
    folder: CourseOption = Path(),
    html: HtmlOption = None,
    json: JsonOption = None,
) -> None:
    """Say what a class has reached, which claims hold for how many, and which mistakes are frequent.

    It comes from the marks that `ladder course mark` has made; nothing is marked here.

    \b
    Examples:
      ladder course report transpose
      ladder course report transpose --html report.html
    """
    needs_nbgrader()
    check_outputs(html, file_of(json))
    from grader.course.overview import kept, pages
    from grader.course.overview import report as overview

    whole = kept.of_course(folder, assignment)
    whole.needs_marks(assignment)
    found = overview.of_class(whole)
    console = console_for(json == "-")
    for part in (part for item in found for part in _shown(item)):
        console.print(part)
    if html is not None:
        write_file(html, pages.report(assignment, found))
    if json is not None:
        write_structs(json, found)


def _shown(found: Report) -> Iterator[RenderableType]:
    """A report in a terminal of 80 columns."""
    from rich.text import Text

    from grader.course.overview.pages import span
    from grader.workbook import units

    points = found.points
    yield Text(found.title, "bold")
    yield (
        f"{found.marked} of {units.number_of(found.submitted, 'submission')} marked, {found.passed} right. Points: "
        f"{units.points(points.mean)} on average, {units.points(points.median)} in the middle, of {points.most}.\n"
    )
    yield _bars("reached", [(rung.rung, rung.reached) for rung in found.rungs], found.marked)
    yield _bars(
        "points", [(span(part.least, part.most), part.students) for part in points.parts], found.marked
    )
    if found.passed:
        yield _claims(found)
    if found.mistakes:
        yield _bars(
            "what is wrong", [(item.kind, len(item.students)) for item in found.mistakes], found.marked
        )
    if found.unmarked:
        yield "Without a mark:"
        yield from (f"  {item.student}: {item.note}" for item in found.unmarked)


def _bars(title: str, rows: Sequence[tuple[str, int]], whole: int) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(title, width=46)
    table.add_column("", justify="right", width=4)
    table.add_column("", width=BAR)
    for name, count in rows:
        table.add_row(name, str(count), "█" * round(BAR * count / whole))
    table.add_section()
    table.add_row()
    return table


def _claims(found: Report) -> RenderableType:
    """Of the kernels that are right; the last column is what to explain once more."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("claims, of those that are right", width=46)
    for column in ("holds", "fails", "stops"):
        table.add_column(column, justify="right")
    for claim in found.claims:
        table.add_row(claim.text, str(claim.held), str(claim.failed), str(claim.first))
    table.caption = "stops: how many it keeps from their next rung"
    table.caption_justify = "left"
    table.add_row()
    return table
