"""What every command that holds a session has in common: its options, its file, and its end."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from grader.cli.options import (
    NOT_PASSED,
    PASSED,
    check_outputs,
    console_for,
    write_file,
    write_json,
    write_structs,
)
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import Console, RenderableType

    from grader.interview.bank import Question
    from grader.interview.card import Card
    from grader.interview.commands.frontend import Terminal
    from grader.interview.drills.drill import Drill
    from grader.interview.practice.catalogue import Catalogue
    from grader.interview.session import Session
    from grader.interview.sitting import Sitting

PAGE = ".html"


def _finite(minutes: float | None) -> float | None:
    """A time that there is: neither nan nor inf."""
    if minutes is not None and not math.isfinite(minutes):
        raise typer.BadParameter(f"{minutes} is no number of minutes; 0 is no limit")
    return minutes


MinutesOption = Annotated[
    float | None,
    typer.Option("--minutes", min=0, callback=_finite, help="Time, instead of the usual; 0: no limit."),
]
ResumeOption = Annotated[
    Path | None, typer.Option("--resume", metavar="FILE", help="Go on with a session that was broken off.")
]
CardOption = Annotated[
    Path | None, typer.Option("--card", metavar="FILE.html", help="Write the scorecard as a page.")
]


LongOption = Annotated[
    bool, typer.Option("--long", help="Show the whole card: each point that did not count, and what to read.")
]


def sit(
    sitting: Sitting,
    terminal: Terminal,
    score: Callable[[], Card],
    catalogue: Catalogue,
    page: Path | None,
    json: str | None,
    long: bool,
) -> NoReturn:
    """A session from the first question to the card, finished or broken off; its outcomes are remembered."""
    from grader.interview.driving import BrokenOff, drive

    check_history()
    kept, path = sitting.kept, sitting.path
    if not kept.over:
        terminal.welcome(kept, path)
    try:
        drive(sitting, terminal)
    except BrokenOff:
        terminal.left(resumed_by(kept, path))
    scored = score()
    show_card(terminal, scored, page, json, "" if long else whole_by(kept, path))
    remember(kept, scored, catalogue, terminal.console)
    raise typer.Exit(PASSED if kept.over else NOT_PASSED)


def show_list(
    command: str, found: Iterable[Question | Drill], table: RenderableType, json: str | None
) -> None:
    """What there is to be asked, as a table with the command that asks one of it, or as JSON."""
    if json is None:
        console_for().print(table)
        console_for().print(f"\nOne of them: ladder {command} NAME")
    else:
        write_structs(json, [item.listed for item in found])


def check_pages(card: Path | None, sheet: Path | None = None) -> None:
    """Refuse a card or a sheet of an unknown kind, or in no folder, before anything is asked."""
    pages = [(path, kind) for path, kind in ((card, "card"), (sheet, "sheet")) if path is not None]
    check_outputs(*(path for path, _ in pages))
    for path, kind in pages:
        if path.suffix.lower() != PAGE:
            raise WarpladderError(f"it is no kind of {kind}", file=path, remedy=f"end it in {PAGE}")


def resumed_by(kept: Session, path: Path) -> str:
    """The command that goes on with a session."""
    topic = f" {kept.topic}" if kept.topic else ""
    return f"ladder {kept.kind}{topic} --resume {shlex.quote(str(path))}"


def whole_by(kept: Session, path: Path) -> str:
    """The command that shows a session's whole card."""
    return f"{resumed_by(kept, path)} --long"


def show_card(terminal: Terminal, card: Card, page: Path | None, json: str | None, short: str) -> None:
    """The card, in the terminal and in files; `short`, if any, is the command that shows what is left out of it."""
    from grader.interview.card import to_json
    from grader.interview.reports import interviews, sheets

    if card.over:  # else it would tell what is still to be asked
        terminal.console.print(interviews.card(card, short), crop=False)
    if json is not None:
        write_json(json, to_json(card))
    if page is not None:
        write_file(page, sheets.card(card))


def check_history() -> None:
    """Say before the first question that what is answered will not be remembered; it is asked all the same."""
    from grader.history.store import Store
    from grader.report import notices

    try:
        with Store():
            pass
    except WarpladderError as error:
        notices.error(console_for(stderr=True), error)
        notices.unremembered(console_for(stderr=True))


def remember(kept: Session, card: Card, catalogue: Catalogue, shown: Console) -> None:
    """Write a session's outcomes, and show what changed; a history that cannot be written costs no card."""
    from grader.interview.practice import recording
    from grader.interview.reports.history import console
    from grader.report import notices

    try:
        before = recording.remember(kept, card, catalogue.items)
    except WarpladderError as error:
        notices.error(console_for(stderr=True), error)
        return
    if kept.over and before is not None:
        shown.print(console.last_time(recording.sitting(kept, card), before))
