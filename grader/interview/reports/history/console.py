"""A learner's history in a terminal of 80 columns: what is to be done today, how skills stand, what is weak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.history.outcomes import Outcome, Sitting
from grader.history.progress import Progress, Skill, WeakPoint
from grader.history.remedies import Remedy
from grader.history.schedule import GOOD, Day, Schedule
from grader.history.way import Climbed, Next
from grader.interview.reports.history import words
from grader.interview.reports.interviews import inline
from grader.interview.session import Session
from grader.workbook import units

LEVELS_OF_BARS = "▁▂▃▄▅▆▇█"
NO_BAR = "·"
REACHED, LEFT = "■", "□"
"""A rung that a kernel of the learner's has reached, and one that none has."""

SHOWN_COMMANDS = 3
"""So many other commands are named at the end of a day."""

LEGEND = """\
checked, rated: of 100, as each item was answered last; rated, your own prose by
yourself. asked: items asked, of those there are. ±: against 4 weeks ago."""


NOTHING = "No question was answered yet. Begin with `ladder today`, or `ladder quiz`."


def progress(found: Progress, remedies: Mapping[str, Sequence[Remedy]]) -> RenderableType:
    """Everything; `remedies` by the item's key."""
    parts: list[RenderableType] = []
    if any(climbed.graded for climbed in found.kernels):
        parts += ["", Text("Kernels", "bold"), _kernels(found.kernels)]
    if not found.outcomes:
        return Group(*parts, "", NOTHING) if parts else Text(NOTHING)
    parts += ["", _heading(found), "", _skills(found), "", Text(LEGEND, "dim")]
    if found.weak:
        parts += ["", Text("Weakest points", "bold")]
        parts += [_weak(point, remedies.get(point.item.key, ())) for point in found.weak[: words.SHOWN_WEAK]]
    if found.whole.due:
        parts += ["", Text(f"{units.number_of(found.whole.due, 'item')} due: ladder today", "green")]
    else:
        parts += ["", Text("Nothing is due. What is next: ladder next", "green")]
    return Group(*parts)


def following(found: Next, lesson: str = "") -> RenderableType:
    """The one thing to do now; `lesson`: where it is told of."""
    told = f" The lesson of {found.topic}: {lesson}" if lesson else ""
    parts: list[RenderableType] = [
        Text.assemble(("Next", "bold"), f"   {found.what}"),
        Padding(Text(f"{found.why}{told}", "dim"), (0, 0, 0, 2)),
        _command(found),
    ]
    for also in found.also:
        parts += [Text.assemble(("Or", "bold"), f"     {also.what}"), _command(also)]
    return Group(*parts)


def _command(found: Next) -> Text:
    """In one line, to be copied."""
    return Text(f"  → {found.command}", "green", no_wrap=True, overflow="ignore")


def today(day: Day, now: datetime, next_due: datetime | None) -> RenderableType:
    """What is to be done in a day; `next_due`: when the next item is, where nothing is due."""
    if not day.items:
        later = (
            f" The next is due on {words.day(next_due.astimezone(now.tzinfo).date())}." if next_due else ""
        )
        return Text(f"Nothing is due today.{later} What is next: ladder next")
    head = Text.assemble(("Today", "bold"), (f"   {words.day(now.date())}", "dim"))
    parts = [f"{len(day.again)} due"] if day.again else []
    parts += [f"{len(day.new)} new"] if day.new else []
    head.append(f"   {', '.join(parts)}", "dim")
    head.append(f"; {day.waiting} more due" if day.waiting else "", "dim")
    return Group("", head)


def items(day: Day) -> RenderableType:
    """What a day asks, a line each."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True, style="dim")
    table.add_column("question", no_wrap=True)
    table.add_column("level", no_wrap=True)
    table.add_column("ladders", ratio=1)
    for word, found in (("due", day.again), ("new", day.new)):
        for item in found:
            table.add_row(word, item.key, item.level, ", ".join(item.topics))
    return Group("", table)


def begun(kept: Session) -> RenderableType:
    """That a day was begun, which comes before anything else."""
    left = sum(kept.answer(key) is None for key in kept.questions)
    return Text(f"\nA day was begun: `ladder today` goes on with the {left} of {len(kept.questions)} left.")


def elsewhere(day: Day) -> RenderableType:
    """What is due and asked by other commands."""
    commands = list(dict.fromkeys(item.command for item in day.elsewhere))
    lines = ["Due as well:", *commands[:SHOWN_COMMANDS]]
    if len(commands) > SHOWN_COMMANDS:
        lines.append(f"and {len(commands) - SHOWN_COMMANDS} more")
    return Text("\n  ".join(lines), "dim")


def done(outcomes: Sequence[Outcome], schedule: Schedule, now: datetime) -> RenderableType:
    """How a day went, and what comes next; `schedule` with this day's outcomes."""
    right = sum(found.share >= GOOD for found in outcomes)
    tomorrow = len(schedule.due(now + timedelta(days=1)))
    text = Text(f"\n{right} of {len(outcomes)} right.", "bold")
    text.append(f" Due tomorrow: {tomorrow}. How you stand: ladder progress", "not bold")
    return text


def last_time(sitting: Sitting, before: Sitting) -> RenderableType:
    """A session against the one of its kind before it."""
    text = (
        f"Last time, on {words.day(before.started.date())}: {words.percent(before.share)} % of what was asked"
    )
    return Text(f"{text}; today {words.percent(sitting.share)} %.", "dim")


def spark(skill: Skill) -> str:
    """A bar for each week, as high as what was known at its end."""
    top = len(LEVELS_OF_BARS) - 1
    return "".join(
        NO_BAR if week.share is None else LEVELS_OF_BARS[round(top * week.share)] for week in skill.weeks
    )


def _heading(found: Progress) -> Text:
    text = Text.assemble(("Progress", "bold"), (f"   {words.day(found.when.date())}", "dim"))
    days, answers = units.number_of(found.days, "day"), units.number_of(found.outcomes, "answer")
    text.append(f"   {answers} checked on {days}, {words.hours(found.seconds)}", "dim")
    return text


def _kernels(found: Sequence[Climbed]) -> Table:
    """The way through the ladders, with a box for each rung."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for climbed in found:
        left = len(climbed.rungs) - climbed.reached
        boxes = Text.assemble((REACHED * climbed.reached, "green"), (LEFT * left, "dim"))
        wrong = "none right yet" if climbed.graded else ""
        said = wrong if climbed.rung is None else f"{climbed.rung}, {climbed.reached} of {len(climbed.rungs)}"
        table.add_row(Text(climbed.topic, "" if climbed.graded else "dim"), boxes, Text(said, "dim"))
    return table


def _skills(found: Progress) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True, max_width=22)
    for name in ("checked", "rated", "asked", "due"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(units.number_of(len(found.whole.weeks), "week"), no_wrap=True)
    table.add_column("±", justify="right", no_wrap=True)
    table.add_row(*_row(found.whole, "bold"))
    for name, skills in (("ladder", found.topics), ("level", found.levels), ("format", found.formats)):
        table.add_row("")
        table.add_row(Text(name, "bold"))
        for skill in skills:
            table.add_row(*_row(skill, indent="  "))
    return table


def _row(skill: Skill, style: str = "", indent: str = "") -> tuple[Text, ...]:
    style = style or ("dim" if skill.share is None else "")
    due = str(skill.due) if skill.due else ""
    shown = (
        indent + skill.name,
        words.percent(skill.share),
        words.percent(skill.rated),
        f"{skill.asked}/{skill.items}",
        due,
        spark(skill),
        words.change(skill),
    )
    return tuple(Text(text, style) for text in shown)


def _weak(point: WeakPoint, remedies: Sequence[Remedy]) -> RenderableType:
    asked = "once" if point.asked == 1 else f"{point.asked} times"
    head = Text.assemble((f"{point.item.title}: ", "bold"), inline(point.item.point))
    head.append(f" ({words.percent(point.share)} of 100, asked {asked})", "dim")
    lines: list[RenderableType] = [head]
    places = [words.place(remedy) for remedy in remedies] or [point.item.command]
    lines += [Padding(Text(f"→ {place}", "green"), (0, 0, 0, 2)) for place in places]
    return Padding(Group(*lines), (0, 0, 0, 2))
