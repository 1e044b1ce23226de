"""The command `ladder`: reads its arguments, calls, and shows. Its commands are the workbook's, in `grader.cli`, and
those that each product keeps in its own room.

Each command imports what it needs, so that `ladder --help` answers at once. Exit codes: 0 passed, 1 did not
pass, 2 the call or the file is unusable.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import NoReturn

from grader.cli.options import UNUSABLE, app, console_for
from grader.errors import WarpladderError
from grader.visible import show_visible_text_alone

# A module's commands are registered on `app` when it is imported: this is their order in `ladder --help`.
# isort: off
from grader.cli import workbook
from grader import checking
from grader.cli import editing
from grader.cli import analysis
from grader.learn import command as learn
from grader.interview.commands import interview
from grader.interview.page import command as room
from grader.interview.commands import drills
from grader.interview.commands import history
from grader.interview.commands import loop
from grader.course import commands as course
from grader.cli import machine
# isort: on

__all__ = [
    "analysis",
    "app",
    "checking",
    "course",
    "drills",
    "editing",
    "history",
    "interview",
    "learn",
    "loop",
    "machine",
    "main",
    "room",
    "workbook",
]


def main() -> None:
    """Entry point: runs a command; an unusable call or file ends with exit code 2 and says what to do."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that has no ✓ shows a ? in its place
            stream.reconfigure(errors="replace")
    show_visible_text_alone()
    try:
        app(prog_name="ladder")
    except WarpladderError as error:
        _refuse(error)
    except MemoryError as error:
        said = f" ({error})" if str(error) else ""
        _refuse(
            WarpladderError(f"there is not enough memory{said}", remedy="choose smaller sizes with --set")
        )


def _refuse(error: WarpladderError) -> NoReturn:
    from grader.report import notices

    notices.error(console_for(stderr=True), error)
    sys.exit(UNUSABLE)
