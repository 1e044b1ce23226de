"""Drills: short exercises that are checked, one command a format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli.options import ArchOption, DeviceOption, JsonOption, app, console_for
from grader.interview.commands.sessions import (
    CardOption,
    LongOption,
    MinutesOption,
    ResumeOption,
    check_pages,
    show_list,
    sit,
)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="Names of drills; some are drawn where none is given."),
]
LevelOption = Annotated[
    str | None,
    typer.Option("--level", metavar="LEVEL", help="Draw drills of this level: junior, mid, senior or staff."),
]
TopicOption = Annotated[
    str | None, typer.Option("--topic", metavar="TOPIC", help="Draw drills that belong to this topic.")
]
CountOption = Annotated[
    int | None, typer.Option("--count", min=1, help="Number of drills to draw, instead of the usual.")
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, help="Draw the same drills and numbers again.")
]
ListOption = Annotated[bool, typer.Option("--list", help="List the drills, and ask none.")]


def _command(name: str, text: str) -> None:
    """A command for a format whose drills need no device of the candidate's: what is mended, the emulator judges."""

    @app.command(name, help=text)
    def drill(
        names: Names = None,
        level: LevelOption = None,
        topic: TopicOption = None,
        count: CountOption = None,
        seed: SeedOption = None,
        minutes: MinutesOption = None,
        resume: ResumeOption = None,
        card: CardOption = None,
        long: LongOption = False,
        json: JsonOption = None,
        every: ListOption = False,
    ) -> None:
        _drill(
            name, names, level, topic, count, seed, minutes, resume, card, long, json, every, "emulator", None
        )


_command(
    "design",
    """Design a service or a training job, figures first.

The figures are checked one by one and then told; the plan is free text, of which each point is confirmed by a
short question.

\b
Examples:
  ladder design
  ladder design chat-service
  ladder design --list
""",
)


@app.command()
def diagnose(
    names: Names = None,
    level: LevelOption = None,
    topic: TopicOption = None,
    count: CountOption = None,
    seed: SeedOption = None,
    minutes: MinutesOption = None,
    resume: ResumeOption = None,
    card: CardOption = None,
    long: LongOption = False,
    json: JsonOption = None,
    every: ListOption = False,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
) -> None:
    """Find out why a kernel is slow, from its counters.

    You are given a page in the manner of Nsight Compute, made from the kernel. Name what limits it, predict what a
    counter will be once that is mended, and mend it.

    \b
    Examples:
      ladder diagnose
      ladder diagnose --topic transpose
      ladder diagnose --list
    """
    _drill(
        "diagnose", names, level, topic, count, seed, minutes, resume, card, long, json, every, device, arch
    )


_command(
    "estimate",
    """Do sums on paper: bytes, operations, bounds, times.

Figures are drawn anew each time; the seed that is shown draws them again.

\b
Examples:
  ladder estimate
  ladder estimate --level senior --count 3
  ladder estimate --list
""",
)


_command(
    "read",
    """Read machine code: PTX and SASS of short kernels.

Say what a kernel computes, which line is its guard or a spill, how far a loop has been unrolled.

\b
Examples:
  ladder read
  ladder read inner-product
  ladder read --level senior --count 5
  ladder read --list
""",
)


_command(
    "review",
    """Hunt one bug in a kernel, a schedule or a program.

Name the line, say what goes wrong, then mend it: a file is written for you to edit, and the judge looks at it.

\b
Examples:
  ladder review
  ladder review two-buffers
  ladder review --topic gemm --level senior
  ladder review --list
""",
)


def _drill(
    format_name: str,
    names: list[str] | None,
    level: str | None,
    topic: str | None,
    count: int | None,
    seed: int | None,
    minutes: float | None,
    resume: Path | None,
    card: Path | None,
    long: bool,
    json: str | None,
    every: bool,
    device: str,
    arch: str | None,
) -> None:
    """A session of drills of one format, from the first question to the card."""
    from grader.interview import card as cards
    from grader.interview import session as sessions
    from grader.interview.commands.frontend import Terminal
    from grader.interview.drills.drill import Drill, find
    from grader.interview.drills.drilling import Drilling, begin, choose
    from grader.interview.drills.formats import FORMATS
    from grader.interview.interviewer import WorkbookJudge
    from grader.interview.practice.catalogue import Catalogue
    from grader.interview.practice.fresh import fresh_seed, items_of_drills
    from grader.interview.reading import known_level
    from grader.interview.reports import interviews
    from grader.interview.sitting import Sitting
    from grader.workbook.topics import discover

    what = FORMATS[format_name]
    drills = what.discover()
    check_pages(card)
    if every:
        of_level = None if level is None else known_level(level)
        listed = choose(drills, names or (), what, of_level, topic, 0, len(drills))
        kept_order = [drill for drill in drills.values() if drill in listed]
        show_list(format_name, kept_order, interviews.drills(kept_order), json)
        return
    if resume is None:
        wanted = None if level is None else known_level(level)

        def draw(seed: int) -> list[Drill]:
            return choose(drills, names or (), what, wanted, topic, seed, count or what.count)

        drawn = fresh_seed(lambda each: items_of_drills(format_name, draw(each))) if seed is None else seed
        path, kept = sessions.free_file(format_name), begin(what, draw(drawn), drawn, minutes)
    else:
        path, kept = resume, sessions.resumed(resume, what.name)
    terminal = Terminal(console_for(stderr=json == "-"), discover())
    judge = WorkbookJudge(device, arch)
    sitting = Sitting(lambda interviewer: Drilling(what, drills, interviewer).run(), kept, path, judge)
    asked = [find(drills, name, format_name) for name in kept.questions]
    catalogue = Catalogue(drills={format_name: asked})
    sit(sitting, terminal, lambda: cards.of_drills(asked, kept), catalogue, card, json, long)
