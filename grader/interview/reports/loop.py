"""A day of interviews in a terminal of 80 columns: its parts, and how it went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader.interview.card import Card
from grader.interview.loops.loop import Drawn, Stage, share, verdict_of
from grader.interview.loops.plan import Style
from grader.interview.reading import LEVELS
from grader.workbook import units


def styles(found: Iterable[Style]) -> RenderableType:
    """Every style, with the minutes of its day by level."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("style", no_wrap=True)
    table.add_column("what is asked", ratio=1)
    for level in LEVELS:
        table.add_column(level, justify="right", no_wrap=True)
    for style in found:
        minutes = [sum(part.minutes for part in style.day(level)) for level in LEVELS]
        table.add_row(style.name, style.about, *(f"{each} min" for each in minutes))
    return table


def plan(drawn: Drawn, cards: Sequence[tuple[Stage, Card | None]], folder: Path) -> RenderableType:
    """The parts of a day and how far each has come."""
    head = Text.assemble((f"{drawn.title}, {drawn.level}", "bold"))
    head.append(f"   {sum(part.minutes for part in drawn.parts)} minutes, kept in {folder}", "dim")
    again = Text(f"To go on after a break: ladder loop --resume {folder}", "dim")
    return Group("", head, "", _parts(cards), "", again)


def ready(stage: Stage) -> RenderableType:
    """Asked before a part."""
    text = Text.assemble(("\nPart ", "bold"), (f"{stage.number}: {stage.planned.title}", "bold"))
    text.append(f", {stage.planned.minutes} minutes. Enter to begin; Ctrl-C to leave.", "not bold")
    return text


def waiting(stage: Stage) -> RenderableType:
    """Said to a candidate who types anything else than Enter before a part."""
    what = f"{stage.planned.format}, {units.number_of(len(stage.planned.names), 'question')}"
    return Text(f"Part {stage.number} ({what}) and its clock begin with Enter; Ctrl-C keeps the day.", "dim")


def result(cards: list[tuple[Stage, Card | None]]) -> RenderableType:
    """How the whole day went, and what to practise next."""
    text = Text.assemble((f"{100 * share(cards):.0f} %", "bold"), " of the day, by minutes. ")
    text.append(f"Verdict: {verdict_of(cards)}.", "bold")
    stage, _ = min(cards, key=lambda each: 0.0 if each[1] is None else each[1].percent)
    planned = stage.planned
    command = f"ladder {planned.format}{f' {planned.names[0]}' if planned.format == 'interview' else ''}"
    onward = Text(f"To practise what was weakest, {planned.title}: {command}", "green", no_wrap=True)
    return Group("", Text("The day", "bold"), "", _parts(cards), "", text, onward)


def _parts(cards: Iterable[tuple[Stage, Card | None]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", justify="right", no_wrap=True, style="dim")
    table.add_column("part", ratio=1)
    table.add_column("format", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for stage, card in cards:
        time = units.number_of(stage.planned.minutes, "min", "min")
        table.add_row(str(stage.number), stage.planned.title, stage.planned.format, time, state(stage, card))
    return table


def state(stage: Stage, card: Card | None) -> str:
    """How a part stands, in a word or two."""
    if card is None:
        return "to come"
    return f"{card.percent:.0f} %, {card.verdict}".rstrip(", ") if stage.over else "begun"
