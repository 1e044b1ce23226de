"""`ladder course board`: a leader board under pseudonyms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
from grader.course.commands.tables import add, table

if TYPE_CHECKING:
    from rich.table import Table

    from grader.course.overview.board import Board


@course.command()
def board(
    assignment: AssignmentName,
    folder: CourseOption = Path(),
    by: Annotated[
        str,
        typer.Option(
            "--by", metavar="WHAT", help="time, bytes, wavefronts, instructions, registers; or waits, calls."
        ),
    ] = "time",
    who: Annotated[
        str | None,
        typer.Option("--who", metavar="STUDENT", help="Say this student's pseudonym, and nothing else."),
    ] = None,
    html: HtmlOption = None,
    json: JsonOption = None,
) -> None:
    """Rank submissions that are right by what was counted, under pseudonyms.

    A student has one pseudonym in all of a course's boards. It comes from the course's secret, the seed in hidden.toml:
    keep that, and nobody can tell whose it is.

    \b
    Examples:
      ladder course board transpose --html board.html
      ladder course board transpose --by wavefronts
      ladder course board transpose --who ada
    """
    needs_nbgrader()
    check_outputs(html, file_of(json))
    from grader.course.overview import board as boards
    from grader.course.overview import kept, pages

    whole = kept.of_course(folder, assignment)
    console = console_for(json == "-")
    if who is not None:
        console.print(boards.name_of(whole, who))
        return
    whole.needs_marks(assignment)
    found = boards.of_class(whole, by)
    for item in found:
        console.print(f"{item.title}, by {item.by}", style="bold")
        console.print(_table(item))
    if html is not None:
        write_file(html, pages.board(assignment, found))
    if json is not None:
        write_structs(json, found)


def _table(found: Board) -> Table:
    counted = [column.title for column in found.columns]
    made = table("", "who", "rung", *counted, numbers=("", *counted))
    for place in found.places:
        values = [found.shown(column, place.values[column.name]) for column in found.columns]
        add(made, str(place.rank), place.pseudonym, place.rung, *values)
    return made
