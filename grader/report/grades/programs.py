"""The grade of a whole program in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.text import Text

from grader.report import console as views
from grader.results import Grade


def program(result: Grade, source: Sequence[str]) -> RenderableType:
    """What a program is worth; `source` are its lines."""
    parts = [views.grade(replace(result, claims=[]), (), source)]
    if result.claims:
        parts += ["", Text("Run again with one failure each time:"), views.claims(result.claims)]
    if result.verdict == "pass" and result.claims:
        parts += ["", Text("Right: nothing was found in any run, and every failure is reported.")]
        parts += ["", Text("What is next: ladder next", "dim")]
    return Group(*parts)
