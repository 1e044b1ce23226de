"""`ladder course feedback`: a page for each student."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

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


@course.command()
def feedback(
    assignment: AssignmentName,
    to: Annotated[
        Literal["canvas", "moodle"] | None,
        typer.Option("--to", help="What is to take the pages; with --zip."),
    ] = None,
    zipped: Annotated[
        Path | None, typer.Option("--zip", metavar="FILE", help="Write the pages as the zip that it takes.")
    ] = None,
    folder: CourseOption = Path(),
    json: JsonOption = None,
) -> None:
    """Have nbgrader write the feedback of those whose marks, points or comments have changed.

    With --to and --zip, all pages are packed as well, named so that the platform knows whose they are. Moodle takes
    the file under Submissions, Upload multiple feedback files in a zip; Canvas under Re-Upload Submissions.

    \b
    Examples:
      ladder course feedback transpose
      ladder course feedback transpose --to moodle --zip feedback.zip
    """
    needs_nbgrader()
    if (to is None) != (zipped is None):
        raise WarpladderError("a zip is for one platform", remedy="give both --to and --zip")
    check_outputs(zipped)
    from grader.course import batch
    from grader.course.gradebook.feedback import give
    from grader.course.gradebook.feedback_zip import pack
    from grader.emulator.cache import write_whole
    from grader.report import progress
    from grader.workbook.units import number_of

    opened, marker = batch.open_course(folder)
    pages = give(opened, marker, assignment, progress.of_items)
    console = console_for(json == "-")
    without = [page for page in pages if page.why]
    if without:
        made = table("student", "no feedback", wide="no feedback")
        for page in without:
            add(made, page.student, page.why)
        console.print(made)
    written = sum(page.made for page in pages)
    current = len(pages) - len(without) - written
    where = opened.format_path(opened.feedback_directory, "STUDENT", assignment)
    console.print(f"{written} written, {current} up to date, {len(without)} without", highlight=False)
    console.print(f"They are {where}/*.html", soft_wrap=True)
    missing = []
    if to is not None and zipped is not None:
        packed = pack(opened, marker, assignment, pages, to)
        with writing(zipped):
            write_whole(zipped, packed.data)
        missing = packed.missing
        made = table("student", "not in the zip", wide="not in the zip")
        for student, why in missing:
            add(made, student, why)
        if missing:
            console.print(made)
        console.print(
            f"Wrote {zipped}: {number_of(packed.students, 'student')}", highlight=False, soft_wrap=True
        )
    if json is not None:
        write_structs(json, pages)
    raise typer.Exit(NOT_PASSED if without or missing else PASSED)
