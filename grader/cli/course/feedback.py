"""`ladder course feedback`: a page for each student."""

from __future__ import annotations

from pathlib import Path

import typer

from grader.cli.course.options import AssignmentName, CourseOption, course, needs_nbgrader
from grader.cli.course.tables import add, table
from grader.cli.options import NOT_PASSED, PASSED, JsonOption, console_for, write_structs


@course.command()
def feedback(assignment: AssignmentName, folder: CourseOption = Path(), json: JsonOption = None) -> None:
    """Have nbgrader write the feedback of those whose marks, points or comments have changed.

    \b
    Examples:
      ladder course feedback transpose
      ladder course feedback transpose --course cuda
    """
    needs_nbgrader()
    from grader.course import batch
    from grader.course.gradebook.feedback import give
    from grader.report import progress

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
    if json is not None:
        write_structs(json, pages)
    raise typer.Exit(NOT_PASSED if without else PASSED)
