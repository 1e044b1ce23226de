"""Pages of an interview: the scorecard, and the sheet for the one who asks where two people play.

Each is one self-contained HTML page, to be read in light and dark and to be printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from grader.interview import numbers
from grader.interview.bank import Question
from grader.interview.card import WORTH, Card
from grader.interview.numbers import Drawn, pretty
from grader.interview.quiz import drawn_numbers
from grader.interview.rounds import Interview, Round
from grader.judge.values import of_file
from grader.report import interviews
from grader.report.rendering import environment
from grader.workbook import units
from grader.workbook.expressions import ExpressionError, Number
from grader.workbook.topic import Topic

_INTERNAL_LINK = re.compile(r"\[([^\]]*)\]\((?!https?://)[^)]*\)")
_MARKDOWN = MarkdownIt("commonmark", {"html": False})
_MINUTES_TO_BEGIN, _MINUTES_TO_END = 5, 5


@dataclass(frozen=True)
class Version:
    """A round on the sheet."""

    round: Round
    begin: int  # minutes from the start, as a plan
    before: str | None  # the ratio of the version before, counted on the workbook's
    after: str | None  # of this version


def card(result: Card) -> str:
    """The scorecard as a page."""
    return _page("card.html.j2", card=result, reached=interviews.reached(result))


def of_interview(interview: Interview, topic: Topic, arch: str | None = None) -> str:
    """The sheet of a coding interview, its ratios counted on the workbook's kernels; takes seconds a version."""
    counted: dict[str, Mapping[str, Number]] = {}
    for item in interview.rounds:
        counted[item.rung] = of_file(topic, topic.rung(item.rung).path, arch)
    each = (interview.minutes - _MINUTES_TO_BEGIN - _MINUTES_TO_END) / len(interview.rounds)
    versions = [
        Version(
            round=item,
            begin=round(_MINUTES_TO_BEGIN + number * each),
            before=_ratio(item, counted[interview.rounds[number - 1].rung]) if number else None,
            after=_ratio(item, counted[item.rung]),
        )
        for number, item in enumerate(interview.rounds)
    ]
    sizes = units.problem(topic.claim_sizes)
    return _page("sheet_interview.html.j2", entry=interview, versions=versions, sizes=sizes, worth=WORTH)


def of_questions(questions: Sequence[Question], seed: int) -> str:
    """The sheet of a quiz; numbers are drawn from `seed`."""
    drawn: dict[str, list[Drawn]] = {item.id: list(drawn_numbers(item, seed)) for item in questions}
    return _page("sheet_questions.html.j2", questions=questions, drawn=drawn, seed=seed)


def _ratio(item: Round, values: Mapping[str, Number]) -> str | None:
    """A ratio for people; None where the kernel has none, such as wavefronts a request without requests."""
    if item.ratio is None:
        return None
    try:
        return pretty(float(item.ratio.value.evaluate(values)))
    except ExpressionError:
        return None


def _page(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    return environment(
        {
            "markdown": _html,
            "inline": _inline,
            "digits": _digits,
            "duration": interviews.duration,
            "pretty": numbers.pretty,
        },
    )


def _html(text: str) -> Markup:
    """Markdown as HTML; links into the workbook lead nowhere from a page, so their text alone is kept."""
    return Markup(_MARKDOWN.render(_INTERNAL_LINK.sub(r"\1", text)))


def _inline(text: str) -> Markup:
    """Markdown of one line, without a paragraph around it."""
    return Markup(_MARKDOWN.renderInline(_INTERNAL_LINK.sub(r"\1", text)))


def _digits(value: float) -> str:
    return units.digits(round(value, 1))
