"""`ladder course similar`: submissions that resemble each other."""

from __future__ import annotations

from collections.abc import Sequence
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

    from grader.course.likeness.pairs import Pair

_DECIDES = "Common code says nothing about how it came to be. A person decides, after reading both."


@course.command()
def similar(
    assignment: AssignmentName,
    folder: CourseOption = Path(),
    least: Annotated[
        int,
        typer.Option("--least", min=1, max=100, metavar="PERCENT", help="What has to be common, at least."),
    ] = 40,
    html: HtmlOption = None,
    json: JsonOption = None,
) -> None:
    """Rank pairs of submissions by the code that they have in common.

    Names, comments, numbers and the order of functions are of no account, and what is in the starter or in a rung of
    the ladder is taken out. The page shows pairs side by side.

    \b
    Examples:
      ladder course similar transpose
      ladder course similar transpose --least 70 --html similar.html
    """
    needs_nbgrader("copydetect")
    check_outputs(html, file_of(json))
    from grader.course.likeness import pairs
    from grader.course.overview import kept, pages

    whole = kept.of_course(folder, assignment)
    found = [
        pair
        for topic in whole.topics
        for pair in pairs.pairs(
            topic, [item for item in whole.submissions if item.topic == topic], least / 100
        )
    ]
    console = console_for(json == "-")
    if found:
        console.print(_table(found))
    else:
        console.print(f"No two of {len(whole.submissions)} submissions resemble each other.")
    console.print(_DECIDES)
    if html is not None:
        unread = sorted(item.student for item in whole.unread)
        write_file(html, pages.similar(assignment, found, len(whole.submissions), unread))
    if json is not None:
        write_structs(json, found)


def _table(found: Sequence[Pair]) -> Table:
    made = table("common", "of", "and of", numbers=("common",), wide=("of", "and of"))
    for pair in found:
        sides = (f"{', '.join(side.students)} ({100 * side.share:.0f} %)" for side in (pair.left, pair.right))
        add(made, f"{100 * pair.share:.0f} %", *sides)
    return made
