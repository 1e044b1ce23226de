"""`ladder course export`: scores for a learning platform."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from grader.cli.options import (
    NOT_PASSED,
    PASSED,
    JsonOption,
    check_outputs,
    console_for,
    write_structs,
    writing,
)
from grader.course.commands.options import AssignmentName, CourseOption, course, needs_nbgrader
from grader.course.commands.tables import add, table
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from rich.table import Table

    from grader.course.gradebook.export import Export


@course.command()
def export(
    assignment: AssignmentName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The CSV file to write.")],
    to: Annotated[Literal["canvas", "moodle"], typer.Option("--to", help="What is to take it.")],
    template: Annotated[
        Path | None,
        typer.Option(
            "--template",
            metavar="CSV",
            help="Canvas's gradebook or Moodle's grading worksheet, to be filled in.",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="NAME", help="What Canvas calls the assignment, if not ASSIGNMENT."),
    ] = None,
    folder: CourseOption = Path(),
    json: JsonOption = None,
) -> None:
    """Write the scores of an assignment as Canvas or Moodle takes them.

    They are the gradebook's, less what the course takes off for being late. Who has no mark has an empty cell.

    \b
    Examples:
      ladder course export transpose --to canvas --template gradebook.csv upload.csv
      ladder course export transpose --to moodle --template worksheet.csv upload.csv
    """
    needs_nbgrader()
    from grader.course import batch
    from grader.course.gradebook.export import export
    from grader.emulator.cache import write_whole
    from grader.workbook.units import number_of

    check_outputs(file)
    if template is not None and file.exists() and template.exists() and file.samefile(template):
        raise WarpladderError("it is the template itself", file=file, remedy="give the new file another name")
    opened, marker = batch.open_course(folder)
    found = export(opened, marker, assignment, to, template, column)
    with writing(file):
        write_whole(file, found.filled.text.encode("utf-8"))
    console = console_for(json == "-")
    lacking = _table(found)
    if lacking.row_count:
        console.print(lacking)
    unplaced = {mark.person.id for mark in found.filled.unplaced}
    scores = sum(mark.score is not None and mark.person.id not in unplaced for mark in found.marks)
    console.print(f"Wrote {file}: {number_of(scores, 'score')}", highlight=False, soft_wrap=True)
    if found.left_out:
        files = number_of(len(found.left_out), "file of the downloads counts", "files of the downloads count")
        console.print(f"{files} for nobody: ladder course status {assignment}", soft_wrap=True)
    if json is not None:
        write_structs(json, found)
    raise typer.Exit(NOT_PASSED if lacking.row_count else PASSED)


def _table(found: Export) -> Table:
    """Who has no score in the file, and why."""
    made = table("student", "no score", wide="no score")
    unplaced = {mark.person.id for mark in found.filled.unplaced}
    for mark in found.marks:
        reasons = [mark.why, "not in the template" if mark.person.id in unplaced else ""]
        if any(reasons):
            add(made, mark.person.id, "; ".join(filter(None, reasons)))
    for name in found.filled.absent:
        add(made, name, "in the template alone")
    return made
