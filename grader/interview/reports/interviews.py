"""Interviews and quizzes in a terminal of 80 columns: questions, how they were answered, and the scorecard."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from grader.interview import credit
from grader.interview.bank import Question
from grader.interview.card import Advice, Card, Line, Section
from grader.interview.drills.drill import Drill
from grader.interview.points import WHOLE
from grader.interview.probes.posing import LETTERS, answered
from grader.interview.prompts import Prompt
from grader.interview.session import Code, Figure, Kind, Probed, Rated, Session
from grader.report import console as views
from grader.report.terminal import unbroken
from grader.results import Grade
from grader.workbook import units
from grader.workbook.topic import Topic

PROSE: tuple[Kind, ...] = ("interview", "quiz", "design")
"""What asks for answers in prose."""

COSTLIEST = 4
"""What a short card shows of what was lost."""

THEME = Theme({"markdown.code": "cyan", "markdown.block_quote": "dim"})
"""Code in running text without the black ground that it has otherwise."""


def question(asked: Prompt) -> RenderableType:
    """A question under its heading, with the time that is left."""
    head = Table.grid(expand=True)
    head.add_column(ratio=1)
    head.add_column(justify="right", no_wrap=True)
    style = "bold red" if asked.left_s is not None and asked.left_s < 300 else "dim"
    head.add_row(Text(asked.heading, "bold cyan"), Text(units.time_left(asked.left_s), style))
    parts: list[RenderableType] = ["", Rule(style="dim"), head, "", Markdown(unbroken(asked.text))]
    if asked.code:
        parts += ["", _listing(asked.code)]
    if asked.options:
        parts += ["", _options(asked.options)]
    return Group(*parts)


def _listing(code: Sequence[str]) -> RenderableType:
    """Lines of code with their numbers."""
    text = "\n".join(code)
    return Syntax(
        text, "cuda", line_numbers=True, word_wrap=True, theme="ansi_dark", background_color="default"
    )


def _options(options: Sequence[str]) -> Table:
    """Options behind their letters."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for letter, option in zip(LETTERS, options, strict=False):
        table.add_row("", Text(letter, "bold"), inline(option))
    return table


def said(text: str, title: str) -> RenderableType:
    """Something to read, set off from what is asked."""
    body = Padding(Markdown(unbroken(text)), (0, 0, 0, 2))
    return Group("", Text(title, "bold green"), body) if title else Group("", body)


def inline(text: str) -> Text:
    """A line of Markdown in which only code is marked up."""
    found = Text()
    for number, part in enumerate(unbroken(text).split("`")):
        found.append(part, "cyan" if number % 2 else "")
    return found


def checked(title: str, points: Sequence[credit.Point]) -> RenderableType:
    """How each point was answered, and what is right."""
    parts: list[RenderableType] = ["", Text(title, "bold green")]
    for point in points:
        parts += ["", _point(point)]
        if point.answer is not None:
            parts.append(Padding(_probed(point.answer), (0, 0, 0, 4)))
    return Group(*parts)


def _point(point: credit.Point) -> Table:
    """A point with what it earned."""
    table = Table.grid(padding=(0, 1, 0, 0), expand=True)
    table.add_column(width=1)
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True, style="dim")
    earned = units.points(point.share * point.weight)
    table.add_row(
        views.mark(point.confirmed),
        Text.assemble(inline(point.text), (f"  ({point.unasked})" if point.unasked else "", "dim")),
        f"{earned}/{point.weight}",
    )
    return table


def _probed(answer: Probed) -> RenderableType:
    """A probe, what was typed, and what is right."""
    line = Text.assemble(views.mark(answer.right), " ", inline(answered(answer)))
    line.stylize("bold")
    line.append(" (too late to count)" if answer.late else "")
    return Group(Markdown(unbroken(answer.asked)), line, Markdown(unbroken(answer.explain)))


def figure(item: Figure) -> RenderableType:
    """Whether a number is right, and how it comes about."""
    value = unbroken(settled(item))
    whose = {"own": "as counted on your kernel", "workbook": "as counted on the workbook's kernel", "": ""}
    text = Text.assemble(views.mark(item.right), " ")
    if item.right:
        text.append(f"Right: {value}", "bold")
    else:
        text.append(f"It is {value}", "bold")
        text.append(f", and not {item.given}" if item.given else "")
    if item.counted_on:
        text.append(f", {whose[item.counted_on]}")
    text.append(" (too late to count)" if item.late else "")
    parts: list[RenderableType] = ["", text]
    if item.explain:
        parts.append(Padding(Markdown(unbroken(item.explain)), (0, 0, 0, 2)))
    return Group(*parts)


def graded(result: Grade, rung: str, topic: Topic, source: Sequence[str]) -> RenderableType:
    """A grade of a version, without a word of what lies above the rung that was asked for."""
    asked, reached = topic.ladder.up_to(rung), topic.ladder.up_to(result.rung_reached)
    bare = told(result, rung, topic)
    parts: list[RenderableType] = ["", views.grade(bare, max(reached, asked, key=len), source)]
    if said := not_yet(result, rung, topic):
        parts += ["", Text(said, "yellow")]
    return Group(*parts)


def mended(result: Grade, said: str, source: Sequence[str]) -> RenderableType:
    """What the judge says of a change: `said`, Markdown, then all that it saw."""
    return Group("", Markdown(unbroken(said)), *views.what_was_seen(result, source))


def settled(item: Figure) -> str:
    """The answer to a number that was settled, with its unit."""
    assert item.answer is not None
    return units.quantity(item.answer, item.unit)


def told(result: Grade, rung: str, topic: Topic) -> Grade:
    """What a candidate is told of a grade: nothing of what lies above the rung that was asked for, no counters and no
    costliest line, which are asked about next."""
    asked, reached = topic.ladder.up_to(rung), topic.ladder.up_to(result.rung_reached)
    claims = [claim for claim in result.claims if claim.rung in asked]
    return dataclasses.replace(
        result,
        claims=claims,
        counters={},
        hints=[],
        costliest=None,
        points=sum(claim.points for claim in claims if claim.held and claim.rung in reached),
        max_points=sum(claim.points for claim in topic.claims if claim.rung in asked),
    )


def not_yet(result: Grade, rung: str, topic: Topic) -> str:
    """Said where a version is right, and not what was asked for; else ""."""
    asked, reached = topic.ladder.up_to(rung), topic.ladder.up_to(result.rung_reached)
    holds = all(claim.held for claim in result.claims if claim.rung in asked)
    if reached and len(reached) < len(asked):
        return (
            f"Right, but not yet {rung}: {'only its time is missing' if holds else 'see what does not hold'}."
        )
    if reached and not holds:
        return "Right, but not all of it holds (✗): change it and have it graded again, or go on as it is."
    return ""


def code_prompt(file: str, draft: Code, left_s: float | None) -> RenderableType:
    """What to do now that code is asked for."""
    tries = (
        f" (tried {'once' if draft.attempts == 1 else f'{draft.attempts} times'})" if draft.attempts else ""
    )
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row("", Text("Enter", "bold"), Text(f"have {file} graded{tries}"))
    if not draft.hint:
        table.add_row("", Text("h", "bold"), Text("a hint, for a quarter of the points"))
    table.add_row("", Text("s", "bold"), Text("go on without; what was graded last counts"))
    head = Text.assemble(
        "Write it in ", (file, "bold"), f" with your own editor. ({units.time_left(left_s)})"
    )
    return Group("", head, table)


def rules(prose: bool) -> str:
    """How it goes, said before the first question; `prose`: it asks for answers in prose."""
    asks = (
        "Answer in your own words, in any language; short questions then check each point, and only what is checked "
        "counts. An empty answer goes straight to them; `skip` passes the question with its short ones, and at a "
        "short question that one alone."
        if prose
        else "Each question has one answer, which is checked; how you did is shown at the end. `skip` passes one."
    )
    return (
        f"{asks} A wrong answer costs what a guess would earn: a third for a choice of four, less for most numbers. "
        "To leave one out costs nothing. The clock stands still while the judge works, and wherever you are asked "
        "to go on."
    )


def welcome(kept: Session, path: Path) -> RenderableType:
    """How it goes, before the first question."""
    time = f"{kept.minutes:g} minutes" if kept.minutes else "No limit of time"
    again = f", {units.minutes(kept.elapsed_s)} used" if kept.elapsed_s else ""
    text = Text.assemble((kept.title, "bold"), f"\n{time}{again}. ")
    if kept.kind != "interview":
        text.append(f"Drawn with --seed {kept.seed}. ")
    text.append(f"{rules(kept.kind in PROSE)} Each answer is kept in {path}; Ctrl-C breaks off.")
    return text


def left(command: str) -> RenderableType:
    """Said to a candidate who breaks off, with the command that goes on."""
    return Group("", Text(f"Broken off. To go on: {command}", "yellow", no_wrap=True, overflow="ignore"))


# ---- the card ----------------------------------------------------------------------------------------------


def card(result: Card, whole_by: str = "") -> RenderableType:
    """The whole card; or in short, where `whole_by` is the command that shows the whole of it."""
    parts: list[RenderableType] = ["", Rule(style="dim"), _heading(result), "", _score(result)]
    if result.follow_ups:
        parts.append(Text(_further(result.follow_ups), "dim"))
    parts += ["", _sections(result)]
    if whole_by:
        parts += _cost_most(result, whole_by)
    else:
        parts += [part for advice in result.advice for part in ("", _advice(advice))]
        parts += ["", _command("What is next:", "ladder next")]
    return Group(*parts)


def _cost_most(result: Card, whole_by: str) -> Iterator[RenderableType]:
    """The statements that cost most, and what shows all; where nothing was lost, what is next."""
    lost = sorted((each for section in result.sections for each in _lost(section)), key=lambda each: -each[0])
    if not lost:
        read = _command("What to read:", whole_by)
        yield from ("", read if result.advice else _command("What is next:", "ladder next"))
        return
    table = Table.grid(padding=(0, 1, 0, 0), expand=True)
    table.add_column(width=1)
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True, style="dim")
    for points, text in lost[:COSTLIEST]:
        table.add_row(views.mark(False), inline(text), f"−{units.points(points)}")
    yield from ("", Text("What cost most", "bold"), table)
    left = len(lost) - COSTLIEST
    more = f"{units.number_of(left, 'more statement')} cost something. All, and what" if left > 0 else "What"
    yield _command(f"{more} to read:", whole_by)


def _lost(section: Section) -> Iterator[tuple[float, str]]:
    """What each statement of a section cost that did not count in full, and the statement with what it is of."""
    for line in section.lines:
        of = f"{section.title}, {line.title}" if len(section.lines) > 1 else section.title
        for point in line.points:
            if point.share < 1:
                yield line.worth * point.weight / WHOLE * (1 - point.share), f"{of}: {point.text}"


def _command(said: str, command: str) -> RenderableType:
    """A command below what it is for, in a line of its own, to be copied."""
    return Group(Text(said, "dim"), Text(f"  {command}", "cyan", no_wrap=True, overflow="ignore"))


def _further(asked: Sequence[Rated]) -> str:
    """How many further questions were answered, and how the candidate rated the answers."""
    answers = [item for item in asked if item.text]
    rated = [item.self_scored for item in answers if item.self_scored is not None]
    said = f"you answered {len(answers)} of {len(asked)}"
    if rated:
        said += f", and rated your answers {100 * sum(rated) / len(rated):.0f} %"
    return f"Further questions: {said}. Not in the score."


def _heading(result: Card) -> Text:
    used = units.minutes(result.used_s)
    time = f"{used} of {result.minutes:g} min" if result.minutes else f"{used} min"
    text = Text.assemble((result.title, "bold"), ("\n", ""), (f"{result.date[:10]}   {time}", "dim"))
    if not result.over:
        text.append("   broken off", "yellow")
    if result.kind == "interview":
        text.append(f"   {reached(result)}", "dim")
    return text


def reached(result: Card) -> str:
    """How far up the ladder an interview came."""
    return f"reached {result.rung_reached}" if result.rung_reached else "no version passed"


def _sections(result: Card) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("part", max_width=34)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("what was found", ratio=1)
    for section in result.sections:
        lines = section.lines if section.asked else []
        found = _line(lines[0])[-1] if len(lines) == 1 else Text("" if lines else "not asked", "dim")
        table.add_row(Text(section.title, "bold"), Text(_of(section.earned, section.worth), "bold"), found)
        for line in lines if len(lines) > 1 else ():
            table.add_row(*_line(line))
    return table


def _line(line: Line) -> tuple[RenderableType, Text, Text]:
    style = {"unasked": "dim", "late": "yellow"}.get(line.state, "")
    detail = f"too late to count: {line.detail}" if line.state == "late" else line.detail
    title = Padding(Text(line.title, style), (0, 0, 0, 2))
    return title, Text(_of(line.earned, line.worth), style), Text(unbroken(detail), style)


def _of(earned: float, worth: float) -> str:
    return f"{units.points(earned)}/{units.digits(worth)}"


def _score(result: Card) -> Text:
    """The verdict, and what it is made of."""
    text = Text.assemble((f"Verdict: {result.verdict}. " if result.verdict else "", "bold"))
    text.append(f"{result.percent:.0f} %", "bold").append(f" of {units.digits(result.worth)} points")
    if result.percent_of_asked is not None and result.asked < result.worth:
        text.append(f"; {result.percent_of_asked:.0f} % of the {units.digits(result.asked)} that were asked")
    text.append(".")
    if result.rated is not None:
        text.append(f" You rated your own prose {100 * result.rated:.0f} %; that is not in the score.", "dim")
    return text


def _advice(advice: Advice) -> RenderableType:
    parts: list[RenderableType] = []
    parts.append(Text(f"To read up: {advice.section}", "bold"))
    parts += [Padding(inline(f"· {text}"), (0, 0, 0, 2)) for text in advice.missed]
    for title, where in advice.read[:2]:
        parts.append(Padding(Text(f"→ {title}:", "green"), (0, 0, 0, 2)))
        parts.append(Text(f"    {where}", "green", no_wrap=True, overflow="ignore"))
    return Group(*parts)


# ---- lists -------------------------------------------------------------------------------------------------


def questions(bank: Iterable[Question]) -> RenderableType:
    """Every question of the bank, with its level and its ladders."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("question", ratio=1)
    table.add_column("level", no_wrap=True)
    table.add_column("topics", max_width=20)
    for item in bank:
        table.add_row(item.name, item.title, item.level, ", ".join(item.topics))
    return table


def drills(found: Iterable[Drill]) -> RenderableType:
    """Every drill of a format, with its level, its time and its ladders."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("what", ratio=1)
    table.add_column("level", no_wrap=True)
    table.add_column("min", justify="right", no_wrap=True)
    table.add_column("topics", max_width=20)
    for item in found:
        table.add_row(item.name, item.title, item.level, f"{item.minutes:g}", ", ".join(item.topics))
    return table


def prepare(console: Console) -> Console:
    """A console that shows interviews."""
    console.push_theme(THEME)
    return console
