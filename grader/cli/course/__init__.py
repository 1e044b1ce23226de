"""The commands for those who teach, a module each; a module's commands are registered when it is imported."""

from __future__ import annotations

# Their order in `ladder course --help`.
# isort: off
from grader.cli.course import folder
from grader.cli.course import collecting
from grader.cli.course import marking
from grader.cli.course import extending
from grader.cli.course import autograde
from grader.cli.course import status
from grader.cli.course import feedback
from grader.cli.course import export
from grader.cli.course import report
from grader.cli.course import similar
from grader.cli.course import board
from grader.cli.course import gradescope
# isort: on

__all__ = [
    "autograde",
    "board",
    "collecting",
    "export",
    "extending",
    "feedback",
    "folder",
    "gradescope",
    "marking",
    "report",
    "similar",
    "status",
]
