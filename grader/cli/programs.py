"""`ladder grade` of whole programs."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import typer

from grader.cli.options import (
    check_outputs,
    console_for,
    exit_code,
    file_of,
    lines_of,
    list_problems,
    write_result,
)
from grader.judge.programs.judging import judge
from grader.report import progress
from grader.report.grades.programs import program
from grader.workbook.programs import Program
from grader.workbook.reference import Problem


def grade_program(
    exercise: Program,
    file: Path,
    arch: str | None,
    only: Problem | None,
    seed: int | None,
    json: str | None,
    problems: bool,
) -> NoReturn:
    """Judge a program and show the grade; ends the command."""
    check_outputs(file_of(json))
    chosen = {} if arch is None else {"arch": arch}
    with progress.of_stages(file.name) as report:
        result = judge(exercise, file, seed=seed, only=only, progress=report, **chosen)
    console = console_for(json == "-")
    console.print(program(result, lines_of(file)), crop=False)
    if problems:
        list_problems(console, result)
    if json is not None:
        write_result(json, result)
    raise typer.Exit(exit_code(result.verdict))
