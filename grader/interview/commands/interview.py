"""Mock interviews: coding rounds on a topic, and quizzes from the bank of questions."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.options import ArchOption, DeviceOption, JsonOption, TopicName, app, console_for, write_file
from grader.errors import WarpladderError
from grader.interview.commands.sessions import (
    CardOption,
    LongOption,
    MinutesOption,
    ResumeOption,
    check_pages,
    show_list,
    sit,
)

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
    long: LongOption = False,
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
    from grader.interview import card as cards
    from grader.interview import session as sessions
    from grader.interview.commands.frontend import Terminal
    from grader.interview.conversation import Conversation, begin
    from grader.interview.interviewer import WorkbookJudge
    from grader.interview.practice.catalogue import Catalogue
    from grader.interview.rounds import read_interview
    from grader.interview.sitting import Sitting
    from grader.workbook.topics import load

    loaded = load(topic)
    entry = read_interview(loaded)
    check_pages(card, sheet)
    if sheet is not None:
        from grader.interview.reports import sheets
        from grader.interview.sheet import of_interview

        write_file(sheet, sheets.of_interview(of_interview(entry, loaded, arch)))
        return
    if resume is None:
        path = sessions.free_file(f"interview-{topic}")
        kept = begin(entry, path.with_suffix(loaded.suffix), secrets.randbelow(sessions.SEEDS), minutes)
    else:
        path, kept = resume, sessions.resumed(resume, "interview")
        if kept.topic != topic:
            raise WarpladderError(f"this is not an interview on {topic}", file=resume)
    terminal = Terminal(console_for(stderr=json == "-"), {topic: loaded})
    judge = WorkbookJudge(device, arch)
    sit(
        Sitting(lambda interviewer: Conversation(loaded, interviewer).run(), kept, path, judge),
        terminal,
        lambda: cards.of_interview(entry, loaded, kept),
        Catalogue(interviews=[entry]),
        card,
        json,
        long,
    )


@app.command()
def quiz(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Questions, such as occupancy or hpc-15.")
    ] = None,
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="TOPIC", help="Only questions that belong to a topic.")
    ] = None,
    role: Annotated[
        str | None,
        typer.Option(
            "--role",
            metavar="ROLE",
            help="Draw for kernels (the usual), inference, training, or general (all).",
        ),
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
    long: LongOption = False,
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
      ladder quiz --role inference
      ladder quiz --list
    """
    from grader.interview import bank, quiz
    from grader.interview import card as cards
    from grader.interview import session as sessions
    from grader.interview.commands.frontend import Terminal
    from grader.interview.interviewer import WorkbookJudge
    from grader.interview.practice.catalogue import Catalogue
    from grader.interview.practice.fresh import fresh_seed, items_of_quiz
    from grader.interview.reports import interviews
    from grader.interview.sitting import Sitting
    from grader.workbook.topics import discover

    found = bank.discover()
    if role is not None and names and resume is None:
        message = "--role draws questions at random, and you have named yours"
        raise WarpladderError(message, remedy="leave --role out, or the names")
    check_pages(card, sheet)
    if every:
        listed = (
            found.values()
            if not (names or topic or role)
            else quiz.choose(found, names or (), topic, 0, None, role)
        )
        show_list("quiz", listed, interviews.questions(listed), json)
        return
    if resume is not None:
        path, kept = resume, sessions.resumed(resume, "quiz")
    else:
        several = count if count or names or topic or sheet else 5

        def choose(seed: int) -> list[bank.Question]:
            return quiz.choose(found, names or (), topic, seed, several, role)

        drawn = fresh_seed(lambda each: items_of_quiz(choose(each), each)) if seed is None else seed
        chosen = choose(drawn)
        if sheet is not None:
            from grader.interview.reports import sheets

            write_file(sheet, sheets.of_questions(chosen, drawn))
            return
        path, kept = sessions.free_file("quiz"), quiz.begin(chosen, drawn, minutes or 0, kernels)
    topics = discover()
    terminal = Terminal(console_for(stderr=json == "-"), topics)
    judge = WorkbookJudge(device, arch)
    sitting = Sitting(lambda interviewer: quiz.Quiz(found, topics, interviewer).run(), kept, path, judge)
    sit(sitting, terminal, lambda: cards.of_quiz(found, kept), Catalogue(found.values()), card, json, long)
