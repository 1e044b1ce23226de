"""The commands for those who teach: a course's folder, and a whole class marked."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import (
    NOT_PASSED,
    PASSED,
    JsonOption,
    app,
    console_for,
    say_if_unconfined,
    write_json,
    writing,
)
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from rich.table import Table

    from grader.course.batch import Row

course = typer.Typer(
    help="Assignments for nbgrader, and a whole class marked.",
    epilog="Begin with: ladder course init mycourse.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(course, name="course")


@course.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder, or a course's.")],
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", help="A topic to make an assignment of; repeatable. All if none."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="The course's name; the folder's if not given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over assignments that are there.")] = False,
) -> None:
    """Make a course's folder: nbgrader's configuration, hidden cases, and an assignment a topic.

    \b
    Examples:
      ladder course init cuda
      ladder course init cuda --topic transpose --topic reduce
    """
    _needs_nbgrader()
    from grader.course.folder import create
    from grader.workbook.topics import discover, load

    topics = [load(item) for item in topic] if topic else list(discover().values())
    with writing(folder):
        written = create(folder, topics, name or folder.resolve().name, force)
    console = console_for()
    for path in written:
        console.print(f"wrote {path}", crop=False, soft_wrap=True)
    console.print(
        f"\nNext: cd {folder}, nbgrader generate_assignment {topics[0].name}, and hand out "
        f"release/{topics[0].name}/. Keep hidden.toml to yourself."
    )


@course.command()
def mark(
    assignment: Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="As nbgrader knows it.")],
    folder: Annotated[Path, typer.Option("--course", metavar="DIR", help="The course's folder.")] = Path(),
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Submissions marked at a time.")] = 2,
    again: Annotated[bool, typer.Option("--again", help="Also those that were marked before.")] = False,
    json: JsonOption = None,
) -> None:
    """Mark what a class has submitted, before nbgrader autogrades it.

    Each source is marked once, however often it comes again; `nbgrader autograde` then takes the marks from there. The
    table also says whose source is the ladder's own or another student's, but for comments and white space.

    \b
    Examples:
      ladder course mark transpose
      ladder course mark transpose --course cuda --jobs 4
    """
    _needs_nbgrader()
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
        write_json(json, _json(rows))
    raise typer.Exit(NOT_PASSED if any(row.grade is None for row in rows) else PASSED)


def _needs_nbgrader() -> None:
    """Raise WarpladderError without the packages of the extra `course`."""
    if importlib.util.find_spec("nbgrader") is None:
        raise WarpladderError("nbgrader is not installed", remedy="pip install 'warpladder[course]'")


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


def _json(rows: Sequence[Row]) -> bytes:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(rows), indent=2) + b"\n"
