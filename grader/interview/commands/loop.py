"""A whole day of interviews."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import (
    NOT_PASSED,
    PASSED,
    ArchOption,
    DeviceOption,
    JsonOption,
    app,
    console_for,
    write_structs,
)
from grader.interview.commands.sessions import check_history, remember, whole_by

if TYPE_CHECKING:
    from grader.interview.commands.frontend import Terminal
    from grader.interview.interviewer import Judge
    from grader.interview.loops.loop import Loop, Stage


@app.command()
def loop(
    level: Annotated[
        str, typer.Option("--level", metavar="LEVEL", help="junior, mid, senior or staff.")
    ] = "senior",
    style: Annotated[
        str, typer.Option("--style", metavar="STYLE", help="The kind of job: see --list.")
    ] = "kernels",
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Draw the same day again.")] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="FOLDER", help="Go on with a day that was broken off.")
    ] = None,
    every: Annotated[bool, typer.Option("--list", help="List the styles, and ask nothing.")] = False,
    json: JsonOption = None,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
) -> None:
    """Sit a whole day of interviews: screen, coding, design.

    With sums on paper, and a bug hunt or a diagnosis, as the style and the level have them. What was drawn and each
    answer are kept in a folder, loop-1; whatever ends the program, --resume goes on where it stood. There are breaks
    between the parts, and the clock stands still.

    \b
    Examples:
      ladder loop --level senior --style kernels
      ladder loop --resume loop-1
      ladder loop --list
    """
    from grader.interview.commands.frontend import Terminal
    from grader.interview.interviewer import WorkbookJudge
    from grader.interview.loops import library, plan
    from grader.interview.loops.loop import Loop, draw, free_folder
    from grader.interview.practice.fresh import fresh_seed
    from grader.interview.reading import known_level
    from grader.interview.reports import loop as views
    from grader.workbook.topics import discover

    styles = plan.discover()
    if every:
        console_for().print(views.styles(styles.values()))
        console_for().print("\nOne of them: ladder loop --style STYLE --level LEVEL")
        return
    topics = discover()
    has = library.discover(topics)
    if resume is None:
        wanted, at = plan.find(styles, style), known_level(level)
        drawn = (
            fresh_seed(lambda each: has.items(draw(wanted, at, each, has).parts, each))
            if seed is None
            else seed
        )
        day = Loop.begin(free_folder(), draw(wanted, at, drawn, has), has)
    else:
        day = Loop(resume, has)
    terminal = Terminal(console_for(stderr=json == "-"), topics)
    terminal.console.print(views.plan(day.drawn, day.cards(), day.folder))
    check_history()
    over = _run(day, terminal, WorkbookJudge(device, arch))
    cards = day.cards()
    if over:
        terminal.console.print(views.result(cards), crop=False)
    if json is not None:
        write_structs(json, {"drawn": day.drawn, "cards": [card for _, card in cards]})
    raise typer.Exit(PASSED if over else NOT_PASSED)


def _run(day: Loop, terminal: Terminal, judge: Judge) -> bool:
    """Ask what is left; whether that was everything."""
    from grader.interview.driving import BrokenOff, drive
    from grader.interview.reports import interviews

    try:
        for stage in day.stages():
            if not stage.over:
                _wait(stage, terminal)
                kept = drive(day.sitting(stage, judge), terminal)
                card = day.library.card(kept)
                terminal.console.print(interviews.card(card, whole_by(kept, stage.file)), crop=False)
                remember(kept, card, day.library.catalogue, terminal.console)
    except (BrokenOff, KeyboardInterrupt, EOFError):
        terminal.left(f"ladder loop --resume {shlex.quote(str(day.folder))}")
        for kept, card in day.broken_off():
            remember(kept, card, day.library.catalogue, terminal.console)
        return False
    return True


def _wait(stage: Stage, terminal: Terminal) -> None:
    """A break before a part, until Enter."""
    from grader.interview.reports import loop as views

    terminal.console.print(views.ready(stage))
    while terminal.input().strip():
        terminal.console.print(views.waiting(stage))
    if stage.kept is not None:
        terminal.welcome(stage.kept, stage.file)
