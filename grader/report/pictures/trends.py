"""Skills over weeks: a chart with a line for each, and a line small enough for a row of a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from grader.history.progress import Skill, Week
from grader.report.pictures.svg import SERIES, Sheet, wrapped

WIDE, NARROW = 760.0, 340.0
MARGIN, LINE, SMALL = 16.0, 20.0, 12.0
LEFT = 52.0  # of the chart, beside the percentages
CHART, COUNTS = 200.0, 36.0  # heights of the chart, and of the bars below it
DATE = 56.0  # room for a date

SPARK_WIDTH, SPARK_HEIGHT = 132.0, 26.0


def trend(title: str, skills: Sequence[Skill], counts: Skill, width: float = WIDE) -> str:
    """A line for each skill, at the end of each week; bars below say how much was answered, which is `counts`'."""
    weeks = counts.weeks
    above = wrapped(title, width - 2 * MARGIN, 14)
    top = 22 + LINE * len(above)
    bottom = top + CHART
    shown = [skill for skill in skills if skill.share is not None]
    height = bottom + COUNTS + 44 + LINE * len(shown) + LINE
    sheet = Sheet(width, height, title, _description(shown))
    for number, words in enumerate(above):
        sheet.text(MARGIN, 26 + LINE * number, words, bold=True, size=14)
    step = (width - LEFT - MARGIN) / max(1, len(weeks))
    middles = [LEFT + step * (number + 0.5) for number in range(len(weeks))]
    _percentages(sheet, top, bottom, width)
    for number, skill in enumerate(shown):
        _line(sheet, skill, middles, (top, bottom), SERIES[number % len(SERIES)])
    _bars(sheet, weeks, middles, bottom, 0.6 * step)
    _dates(sheet, weeks, middles, bottom + COUNTS + 20)
    y = bottom + COUNTS + 46
    for number, skill in enumerate(shown):
        sheet.line([(LEFT, y - 4), (LEFT + 26, y - 4)], SERIES[number % len(SERIES)], 2.5)
        sheet.text(LEFT + 34, y, f"{skill.name}: {100 * (skill.share or 0):.0f} %", "dim", size=SMALL)
        y += LINE
    sheet.rect(LEFT + 6, y - 12, 14, 10, "grid")
    sheet.text(LEFT + 34, y, "answers checked in a week", "dim", size=SMALL)
    return sheet.render()


def trend_for_pages(title: str, skills: Sequence[Skill], counts: Skill) -> str:
    """HTML: the picture for wide pages and the one for narrow pages, of which the page's style sheet shows one."""
    drawn = {"wide": trend(title, skills, counts), "narrow": trend(title, skills, counts, NARROW)}
    return "".join(f'<div class="picture-{name}">{picture}</div>' for name, picture in drawn.items())


def spark(skill: Skill) -> str:
    """The same for a row of a table: no axes, the last week's point marked."""
    sheet = Sheet(SPARK_WIDTH, SPARK_HEIGHT, f"{skill.name} by week", _description([skill]))
    step = (SPARK_WIDTH - 12) / max(1, len(skill.weeks) - 1)
    middles = [6 + step * number for number in range(len(skill.weeks))]
    for y in (4.0, SPARK_HEIGHT - 4):
        sheet.line([(6, y), (SPARK_WIDTH - 6, y)], "grid", 1)
    _line(sheet, skill, middles, (4, SPARK_HEIGHT - 4), "blue", small=True)
    return sheet.render()


def day_of(moment: date) -> str:
    """A date without its year: 2 Nov."""
    return f"{moment.day} {moment:%b}"


def _percentages(sheet: Sheet, top: float, bottom: float, width: float) -> None:
    for percent in (0, 25, 50, 75, 100):
        y = bottom - (bottom - top) * percent / 100
        sheet.line([(LEFT, y), (width - MARGIN, y)], "grid", 1)
        sheet.text(LEFT - 8, y + 4, f"{percent} %", "dim", size=SMALL, anchor="end")


def _line(
    sheet: Sheet,
    skill: Skill,
    middles: Sequence[float],
    between: tuple[float, float],
    colour: str,
    small: bool = False,
) -> None:
    """From the first week in which there was an answer."""
    top, bottom = between
    points = [
        (week, x, bottom - (bottom - top) * week.share)
        for x, week in zip(middles, skill.weeks, strict=True)
        if week.share is not None
    ]
    if len(points) > 1:
        sheet.line([(x, y) for _, x, y in points], colour, 1.5 if small else 2.5)
    for week, x, y in points[-1:] if small else points:
        sheet.circle(x, y, 3 if small else 3.5, colour, tip=f"{skill.name}, {_said(week)}")


def _bars(sheet: Sheet, weeks: Sequence[Week], middles: Sequence[float], y: float, width: float) -> None:
    most = max((week.asked for week in weeks), default=0)
    for x, week in zip(middles, weeks, strict=True):
        if week.asked:
            height = (COUNTS - 10) * week.asked / most
            tip = f"week of {day_of(week.monday)}: {week.asked} answers"
            sheet.rect(x - width / 2, y + COUNTS - height, width, height, "grid", radius=2, tip=tip)


def _dates(sheet: Sheet, weeks: Sequence[Week], middles: Sequence[float], y: float) -> None:
    """As many as there is room for, the last week's among them."""
    apart = middles[1] - middles[0] if len(middles) > 1 else DATE
    every = max(1, -int(-DATE // apart))
    for number, (x, week) in enumerate(zip(middles, weeks, strict=True)):
        if (len(weeks) - 1 - number) % every == 0:
            sheet.text(x, y, day_of(week.monday), "dim", size=SMALL, anchor="middle")


def _said(week: Week) -> str:
    assert week.share is not None
    return f"week of {day_of(week.monday)}: {100 * week.share:.0f} %"


def _description(skills: Sequence[Skill]) -> str:
    told = (
        f"{skill.name}: {', '.join(_said(week) for week in skill.weeks if week.share is not None)}"
        for skill in skills
    )
    return ". ".join(told) or "No question was answered yet."
