"""Mock interviews: coding rounds on a topic, and quizzes from the bank of questions."""

from __future__ import annotations

import math
import secrets
from itertools import count as from_number
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import (
    NOT_PASSED,
    PASSED,
    ArchOption,
    DeviceOption,
    JsonOption,
    TopicName,
    app,
    check_outputs,
    console_for,
    write_file,
    write_json,
)
from grader.cli.remembering import remember
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.cli.frontend import Terminal
    from grader.interview.card import Card
    from grader.interview.session import Session

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
SheetOption = Annotated[
    Path | None,
    typer.Option("--sheet", metavar="FILE.html", help="Write the interviewer's sheet, for two people."),
]


@app.command()
def interview(
    topic: TopicName,
    minutes: MinutesOption = None,
    resume: ResumeOption = None,
    card: CardOption = None,
    json: JsonOption = None,
    sheet: SheetOption = None,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
) -> None:
    """Be interviewed on a topic, from its naive version up.

    You write each version in a file, with your own editor, the judge grades it, and you say what limits it.
    Short questions check what you say, and ratios are compared with the counters of your own kernels. Each answer
    is saved; Ctrl-C breaks off.

    \b
    Examples:
      ladder interview transpose
      ladder interview gemm --minutes 60 --card card.html
      ladder interview transpose --resume interview-transpose-1.json
      ladder interview reduce --sheet sheet.html
    """
    from grader.cli.frontend import Terminal
    from grader.interview import card as cards
    from grader.interview import session as sessions
    from grader.interview.conversation import Conversation, begin
    from grader.interview.interviewer import WorkbookJudge
    from grader.interview.practice.catalogue import Catalogue
    from grader.interview.rounds import read_interview
    from grader.workbook.topics import load

    loaded = load(topic)
    entry = read_interview(loaded)
    check_pages(card, sheet)
    if sheet is not None:
        from grader.interview.sheet import of_interview
        from grader.report import sheets

        write_file(sheet, sheets.of_interview(of_interview(entry, loaded, arch)))
        return
    if resume is None:
        path = free_file(f"interview-{topic}")
        kept = begin(entry, path.with_suffix(loaded.suffix), minutes)
    else:
        path, kept = resume, sessions.load(resume)
        if kept.kind != "interview" or kept.topic != topic:
            raise WarpladderError(f"this is not an interview on {topic}", file=resume)
    terminal = Terminal(console_for(stderr=json == "-"), {topic: loaded})
    terminal.welcome(kept, path)
    ask(Conversation(loaded, kept, path, terminal, WorkbookJudge(device, arch)).run, terminal)
    scored = cards.of_interview(entry, loaded, kept)
    show_card(terminal, scored, card, json)
    remember(kept, scored, Catalogue(interviews=[entry]), terminal.console)
    raise typer.Exit(PASSED if kept.over else NOT_PASSED)


@app.command()
def quiz(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Questions, such as occupancy or hpc-15.")
    ] = None,
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="TOPIC", help="Only questions that belong to a topic.")
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", min=1, help="Number of questions to draw (default 5).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Draw the same questions and numbers again.")
    ] = None,
    kernels: Annotated[bool, typer.Option("--kernels", help="Ask for kernels as well.")] = False,
    minutes: MinutesOption = None,
    resume: ResumeOption = None,
    card: CardOption = None,
    json: JsonOption = None,
    sheet: SheetOption = None,
    every: Annotated[bool, typer.Option("--list", help="List the questions, and ask none.")] = False,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
) -> None:
    """Answer questions from the bank.

    You say what you know; short questions then check it. They are drawn anew each time; the seed that is shown
    draws them again.

    \b
    Examples:
      ladder quiz
      ladder quiz occupancy hpc-21
      ladder quiz --topic gemm --count 3 --card card.html
      ladder quiz --list
    """
    from grader.cli.frontend import Terminal
    from grader.interview import bank, quiz
    from grader.interview import card as cards
    from grader.interview import session as sessions
    from grader.interview.interviewer import WorkbookJudge
    from grader.interview.practice.catalogue import Catalogue
    from grader.report import interviews
    from grader.workbook.topics import discover

    found = bank.discover()
    check_pages(card, sheet)
    if every:
        console_for().print(interviews.questions(found.values()))
        return
    drawn = secrets.randbelow(10_000) if seed is None else seed
    if resume is not None:
        path, kept = resume, sessions.load(resume)
        if kept.kind != "quiz":
            raise WarpladderError(
                "this is an interview", file=resume, remedy="resume it with `ladder interview`"
            )
    else:
        several = count if count or names or topic or sheet else 5
        chosen = quiz.choose(found, names or (), topic, drawn, several)
        if sheet is not None:
            from grader.report import sheets

            write_file(sheet, sheets.of_questions(chosen, drawn))
            return
        path, kept = free_file("quiz"), quiz.begin(chosen, drawn, minutes or 0, kernels)
    topics = discover()
    terminal = Terminal(console_for(stderr=json == "-"), topics)
    terminal.welcome(kept, path)
    ask(quiz.Quiz(found, topics, kept, path, terminal, WorkbookJudge(device, arch)).run, terminal)
    scored = cards.of_quiz(found, kept)
    show_card(terminal, scored, card, json)
    remember(kept, scored, Catalogue(found.values()), terminal.console)
    raise typer.Exit(PASSED if kept.over else NOT_PASSED)


def ask(run: Callable[[], Session], terminal: Terminal) -> None:
    """Ask until the end, or until the candidate leaves."""
    from grader.interview.interviewer import BrokenOff

    try:
        run()
    except BrokenOff as left:
        terminal.left(left.path)


def free_file(name: str) -> Path:
    """A file of the current folder for a new session: nothing is written over."""
    for number in from_number(1):
        path = Path(f"{name}-{number}.json")
        if not list(Path().glob(f"{path.stem}.*")):
            return path
    raise AssertionError


def check_pages(card: Path | None, sheet: Path | None = None) -> None:
    """Refuse a card or a sheet of an unknown kind, or in no folder, before anything is asked."""
    pages = [(path, kind) for path, kind in ((card, "card"), (sheet, "sheet")) if path is not None]
    check_outputs(*(path for path, _ in pages))
    for path, kind in pages:
        if path.suffix.lower() != PAGE:
            raise WarpladderError(f"it is no kind of {kind}", file=path, remedy=f"end it in {PAGE}")


def show_card(terminal: Terminal, card: Card, page: Path | None, json: str | None) -> None:
    """The card, in the terminal and in files."""
    from grader.interview.card import to_json
    from grader.report import interviews, sheets

    if card.over:  # else it would tell what is still to be asked
        terminal.console.print(interviews.card(card))
    if json is not None:
        write_json(json, to_json(card))
    if page is not None:
        write_file(page, sheets.card(card))
