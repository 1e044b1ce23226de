"""A learner's progress as a page that loads nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import jinja2
from markupsafe import Markup

from grader.history.progress import Progress
from grader.history.remedies import Remedy
from grader.interview.reports import sheets
from grader.interview.reports.history import words
from grader.report import pictures
from grader.report.rendering import environment


def progress(found: Progress, remedies: Mapping[str, Sequence[Remedy]]) -> str:
    """Everything; `remedies` by the item's key."""
    drawn = ""
    if found.outcomes:
        drawn = pictures.trend_for_pages("Known at the end of each week", found.levels, found.whole)
    return (
        _environment()
        .get_template("progress.html.j2")
        .render(found=found, remedies=remedies, trend=Markup(drawn))
    )


@cache
def _environment() -> jinja2.Environment:
    return environment(
        {
            "percent": words.percent,
            "change": words.change,
            "place": words.place,
            "hours": words.hours,
            "day": words.day,
            "ago": words.ago,
            "spark": lambda skill: Markup(pictures.spark(skill)),
            "inline": sheets.inline,
        },
        {"SHOWN_WEAK": words.SHOWN_WEAK},
        ("grader.interview.reports",),
    )
