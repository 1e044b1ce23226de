"""Pages of an interview: the scorecard, and the sheet for the one who asks where two people play.

Each is one self-contained HTML page, to be read in light and dark and to be printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from grader.interview.bank import Question
from grader.interview.card import WORTH, Card
from grader.interview.points import Point
from grader.interview.probes.posing import LETTERS, Posed, answered, named, pose
from grader.interview.reports import interviews
from grader.interview.sheet import Sheet
from grader.report import pages
from grader.report.rendering import environment
from grader.results import Grade
from grader.workbook import units
from grader.workbook.topic import Topic

_INTERNAL_LINK = re.compile(r"\[([^\]]*)\]\((?!https?://)[^)]*\)")
_MARKDOWN = MarkdownIt("commonmark", {"html": False})


def card(result: Card) -> str:
    """The scorecard as a page."""
    return _page("card.html.j2", card=result, reached=interviews.reached(result))


def card_part(result: Card, level: int) -> Markup:
    """The same as a part of another page; `level` is the level of its heading."""
    reached = interviews.reached(result)
    return Markup(_page("card_body.html.j2", card=result, reached=reached, level=level))


def graded(result: Grade, rung: str, topic: Topic, source: Sequence[str], level: int) -> Markup:
    """A grade as a part of another page, for a candidate who was asked for a rung: nothing of what lies above it.

    `level` is the level of its heading.
    """
    up_to = max(topic.ladder.up_to(result.rung_reached), topic.ladder.up_to(rung), key=len)
    return pages.graded(interviews.told(result, rung, topic), topic, source, up_to, level)


def of_interview(sheet: Sheet) -> str:
    """The sheet of a coding interview."""
    entry = sheet.interview
    return _page(
        "sheet_interview.html.j2", sheet=sheet, entry=entry, worth=WORTH, posed=_posed(entry.every_point, 0)
    )


def of_questions(questions: Sequence[Question], seed: int) -> str:
    """The sheet of a quiz; probes are drawn from `seed`."""
    posed = {question.name: _posed(question.points, seed) for question in questions}
    return _page("sheet_questions.html.j2", questions=questions, posed=posed, seed=seed)


def _posed(points: Sequence[Point], seed: int) -> dict[str, Posed]:
    """The first probe of each point, drawn, by the point's text."""
    return {point.text: pose(point.probes[0], f"{seed} {point.text}") for point in points}


def _page(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    return environment(filters(), packages=("grader.interview.reports",))


def filters() -> dict[str, Callable[..., object]]:
    """What templates of interviews call."""
    return {
        "markdown": markdown,
        "inline": inline,
        "points": units.points,
        "minutes": units.minutes,
        "compact": units.compact,
        "problem": units.problem,
        "lettered": lambda options: zip(LETTERS, options, strict=False),
        "right": lambda posed: named(posed.answer, posed),
        "answered": answered,
    }


def markdown(text: str) -> Markup:
    """Markdown as HTML; links into the workbook lead nowhere from a page, so their text alone is kept."""
    return Markup(_MARKDOWN.render(_INTERNAL_LINK.sub(r"\1", text)))


def inline(text: str) -> Markup:
    """Markdown of one line, without a paragraph around it."""
    return Markup(_MARKDOWN.renderInline(_INTERNAL_LINK.sub(r"\1", text)))
