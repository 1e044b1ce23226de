"""What the commands for those who teach share: their place in the command line, and options."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.cli.options import app
from grader.errors import WarpladderError

course = typer.Typer(
    help="Assignments for nbgrader, and a whole class marked.",
    epilog="Begin with: ladder course init mycourse.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(course, name="course")

AssignmentName = Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="As nbgrader knows it.")]
CourseOption = Annotated[Path, typer.Option("--course", metavar="DIR", help="The course's folder.")]
JobsOption = Annotated[int, typer.Option("--jobs", min=1, help="Submissions marked at a time.")]
EngineOption = Annotated[
    Literal["threads", "dask"],
    typer.Option("--engine", help="What spreads the work: dask for several machines."),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="dask's; without it, --jobs workers here."),
]
AgainOption = Annotated[bool, typer.Option("--again", help="Mark also those that were marked before.")]


def needs_nbgrader(*others: str) -> None:
    """Raise WarpladderError without nbgrader, or `others` among the packages of the extra `course`."""
    for name in ("nbgrader", *others):
        if importlib.util.find_spec(name) is None:
            from grader.gpu_setup import installation

            raise WarpladderError(f"{name} is not installed", remedy=installation("course"))
    # jsonschema, by way of nbformat, would compile 38 grammars for addresses when it is imported: 2 s of processor
    # time, for formats that no notebook's schema has. Without this package it does without them.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
