"""`ladder course collect`: a platform's download put where nbgrader looks for it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import (
    NOT_PASSED,
    PASSED,
    JsonOption,
    check_outputs,
    console_for,
    file_of,
    write_structs,
)
from grader.course.commands.options import AssignmentName, CourseOption, course, needs_nbgrader
from grader.course.commands.tables import add, lines, table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from grader.course.collecting.collect import Row

_BOUND = "≤: not later than that. All that is known is when the download was made."
_UNKNOWN = (
    "?: whether it was late is not known, and nbgrader is told that it was not. Moodle's grading worksheet says "
    "when each was handed in: give it with --worksheet."
)
_ZONE = "Times of the worksheet are read as {}, this machine's zone (TZ=… changes it)."
_ORDER = ("new", "newer", "the same", "older", "left out")
_FLAGGED = (
    "LATE: the platform says so. nbgrader goes by the assignment's due date, and is told a second after it where "
    "nothing says by how much."
)


@course.command()
def collect(
    assignment: AssignmentName,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="The download: a zip, or a folder.")],
    folder: CourseOption = Path(),
    worksheet: Annotated[
        Path | None,
        typer.Option("--worksheet", metavar="CSV", help="Moodle's grading worksheet, for exact times."),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Put what a class handed in on a platform where nbgrader looks for it.

    SOURCE is Moodle's "Download all submissions", Canvas's "Download Submissions", Gradescope's "Export Submissions",
    or a folder of STUDENT/FILE or STUDENT.ipynb. What it is, its content tells. A .cu file, or a schedule's .py, may
    stand in place of the notebook. Who is who, the gradebook says, or roster.csv in the course's folder.

    Of several attempts the latest counts. The same download changes nothing when it is collected again, and an older
    one never takes the place of a newer. Exit code 1 where something was left out, or somebody new is on no roster.csv.

    \b
    Examples:
      ladder course collect transpose cuda-transpose-1234.zip
      ladder course collect transpose submissions.zip --course cuda
      ladder course collect transpose handed-in/ --json collected.json
    """
    needs_nbgrader()
    from grader.course import batch
    from grader.course.collecting.collect import collect as collected

    check_outputs(file_of(json))
    course_folder, marker = batch.open_course(folder)
    rows = collected(course_folder, marker.topics, assignment, source, worksheet)
    console = console_for(json == "-")
    _show(console, rows)
    if worksheet is not None:
        zone = "/".join(dict.fromkeys(time.tzname))
        console.print(_ZONE.format(zone), highlight=False, soft_wrap=True)
    if json is not None:
        write_structs(json, rows)
    raise typer.Exit(NOT_PASSED if any(row.outcome == "left out" or row.unlisted for row in rows) else PASSED)


def _show(console: Console, rows: Sequence[Row]) -> None:
    """The table, what there is to say of single files, what the signs mean, and the sums."""
    from rich.text import Text

    console.print(_table([row for row in rows if row.student]))
    lines(console, "Left out", [_said(row) for row in rows if row.outcome == "left out"])
    lines(console, "Look at", [_said(row) for row in rows if row.note and row.outcome != "left out"])
    added = dict.fromkeys(row.student for row in rows if row.added)
    if added:
        known = "On no roster" if any(row.unlisted for row in rows) else "Not known until now"
        console.print(Text(f"\n{known}, and added to the gradebook: {', '.join(added)}"))
    console.print()
    taken = [row for row in rows if row.handed_in is not None]
    legend = (
        (_BOUND, any(not row.exact for row in taken)),
        (_UNKNOWN, any(row.late is None for row in taken)),
        (_FLAGGED, any(row.flagged for row in taken)),
    )
    for text, applies in legend:
        if applies:
            console.print(Text(text))
    counts = {outcome: sum(row.outcome == outcome for row in rows) for outcome in _ORDER}
    console.print(", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count))


def _said(row: Row) -> tuple[str, str]:
    """A file, and what there is to say of it."""
    return f"{row.student}: {row.file}" if row.student else row.file, row.note


def _table(rows: Sequence[Row]) -> Table:
    """One line a file."""
    from rich.text import Text

    made = table("student", "file", "try", "handed in", "late", "", numbers=("try", "handed in"))
    for row in rows:
        style = {"left out": "red", "older": "dim"}.get(row.outcome, "")
        late = "LATE" if row.flagged else {True: "yes", False: "no", None: "?"}[row.late]
        when = _when(row.handed_in, row.exact)
        tries = f"{row.attempt}/{row.attempts}"
        add(made, row.student, row.file, tries, when, late, Text(row.outcome, style))
    return made


def _when(at: datetime | None, exact: bool) -> str:
    """In the time of this machine."""
    if at is None:
        return ""
    return f"{'' if exact else '≤ '}{at.astimezone():%Y-%m-%d %H:%M}"
