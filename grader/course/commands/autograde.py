"""`ladder course autograde`: a class's marks brought into the gradebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from grader.cli.options import NOT_PASSED, PASSED, JsonOption, console_for, say_if_unconfined, write_structs
from grader.course.commands.options import (
    AgainOption,
    AssignmentName,
    CourseOption,
    EngineOption,
    JobsOption,
    SchedulerOption,
    course,
    needs_nbgrader,
)
from grader.course.commands.tables import add, late, say_if_at_least, table

if TYPE_CHECKING:
    from rich.table import Table

    from grader.course.gradebook.autograde import Outcome


@course.command()
def autograde(
    assignment: AssignmentName,
    folder: CourseOption = Path(),
    jobs: JobsOption = 2,
    engine: EngineOption = "threads",
    scheduler: SchedulerOption = None,
    again: AgainOption = False,
    json: JsonOption = None,
) -> None:
    """Mark what a class has submitted, and bring it into nbgrader's gradebook.

    Only submissions whose files, mark and gradebook differ are autograded. Before it autogrades, the command copies the
    gradebook to backups/. One run is at work at a time. A run that was ended can be started again.

    \b
    Examples:
      ladder course autograde transpose
      ladder course autograde transpose --course cuda --jobs 4
      ladder course autograde transpose --engine dask --scheduler tls://head:8786
    """
    needs_nbgrader()
    from grader.course import batch
    from grader.course.engines import opening
    from grader.course.gradebook.autograde import autograde
    from grader.report import progress

    opened, marker = batch.open_course(folder)
    say_if_unconfined()
    with opening.opened(engine, jobs, scheduler) as started:
        outcomes = autograde(opened, marker, assignment, started, again, progress.of_items)
    console = console_for(json == "-")
    console.print(_table(outcomes))
    say_if_at_least(console, [item.standing for item in outcomes])
    counts = Counter(item.did for item in outcomes)
    console.print("\n" + ", ".join(f"{count} {did}" for did, count in sorted(counts.items())))
    if json is not None:
        write_structs(json, outcomes)
    raise typer.Exit(NOT_PASSED if any(item.note for item in outcomes) else PASSED)


def _table(outcomes: Sequence[Outcome]) -> Table:
    """One line a student: what became of the submission, and what it counts."""
    from rich.text import Text

    from grader.workbook.units import NOTHING

    made = table("student", "", "score", "late", "penalty", "note", numbers=("score", "penalty"), wide="note")
    for item in outcomes:
        standing = item.standing
        score = NOTHING if standing.score is None else f"{standing.score:g}"
        penalty = f"{standing.penalty:g}" if standing.penalty else NOTHING
        did = Text(item.did, "red" if item.did.startswith("not") else "")
        note = "; ".join(filter(None, (item.note or standing.why, standing.look_at)))
        add(made, standing.student, did, score, late(standing.late_s, standing.late_at_least), penalty, note)
    return made
