"""The command about the whole content, that of the workbook and of each product: its linter."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli.options import NOT_PASSED, PASSED, app, console_for


@app.command()
def check(
    questions: Annotated[
        bool, typer.Option("--questions", help="Only the questions, the interviews and the links: seconds.")
    ] = False,
    links: Annotated[
        bool, typer.Option("--links", help="Open every link to the web as well: needs the network.")
    ] = False,
) -> None:
    """Lint the lessons, the kernels and the bank of questions.

    Every topic is complete, every rung compiles without spills, passes and reaches itself when graded, and
    every starter compiles and fails: that takes about a second for each rung. Every question is complete, its
    numbers can be computed however they are drawn, and every link leads somewhere. What was right, and whose files
    and code have not changed since, is not run again.

    \b
    Examples:
      ladder check
      ladder check --questions
    """
    from grader import check as linter
    from grader.judge.clean import Clean
    from grader.report import notices
    from grader.workbook import units
    from grader.workbook.content import content_root

    root = content_root()
    clean = Clean()
    problems = linter.check_questions(root, clean) if questions else linter.check(root, clean)
    if links:
        problems += linter.dead_links(root)
    for problem in problems:
        notices.error(console_for(stderr=True), problem)
    if clean.left_out:
        same = ", ".join(units.number_of(count, kind) for kind, count in clean.left_out.items())
        console_for().print(f"Unchanged since they were right: {same}", style="dim", highlight=False)
    found = units.number_of(len(problems), "problem")
    console_for().print(found if problems else "No problems", highlight=False)
    raise typer.Exit(NOT_PASSED if problems else PASSED)
