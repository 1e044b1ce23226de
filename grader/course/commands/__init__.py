"""The commands for those who teach, a module each; a module's commands are registered when it is imported."""

from __future__ import annotations

# Their order in `ladder course --help`.
# isort: off
from grader.course.commands import folder
from grader.course.commands import collecting
from grader.course.commands import marking
from grader.course.commands import extending
from grader.course.commands import autograde
from grader.course.commands import status
from grader.course.commands import feedback
from grader.course.commands import export
from grader.course.commands import report
from grader.course.commands import similar
from grader.course.commands import board
from grader.course.commands import gradescope
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
