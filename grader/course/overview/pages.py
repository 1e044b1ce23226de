"""Reports, boards and pairs as pages: each one file, which loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import jinja2
from markupsafe import Markup

from grader.course.likeness.pairs import Pair
from grader.course.overview.board import Board
from grader.course.overview.report import Mistake, Points, Report
from grader.report.pictures import Bar, bars_for_pages
from grader.report.rendering import environment
from grader.workbook import units

FIRST = 20
"""Bars of a board's picture: its first places."""


def report(assignment: str, found: Sequence[Report]) -> str:
    """A class's report: pictures of rungs, claims, points and mistakes, and the numbers."""
    return _page(
        "course_report.html.j2",
        assignment=assignment,
        reports=found,
        rungs=_rungs,
        claims=_claims,
        points=_points,
        mistakes=_mistakes,
    )


def similar(assignment: str, found: Sequence[Pair], compared: int, left_out: Sequence[str]) -> str:
    """Pairs of submissions side by side; `left_out`: students whose submission could not be read."""
    return _page(
        "course_similar.html.j2", assignment=assignment, pairs=found, compared=compared, left_out=left_out
    )


def board(assignment: str, found: Sequence[Board]) -> str:
    """A leader board under pseudonyms."""
    return _page("course_board.html.j2", assignment=assignment, boards=found, picture=_places)


def _rungs(found: Report) -> Markup:
    rows = [
        Bar(rung.rung, rung.reached, f"{rung.reached} of {found.marked}", "green") for rung in found.rungs
    ]
    return Markup(bars_for_pages("How many reached each rung", rows, found.marked))


def _claims(found: Report) -> Markup:
    rows = [
        Bar(f"{claim.rung}: {claim.text}", claim.held, f"{claim.held} of {claim.held + claim.failed}", "teal")
        for claim in found.claims
    ]
    return Markup(bars_for_pages("For how many of the right ones each claim holds", rows, found.passed))


def _points(found: Points) -> Markup:
    rows = [Bar(span(part.least, part.most), part.students, f"{part.students}") for part in found.parts]
    return Markup(bars_for_pages("How many have how many points", rows))


def _mistakes(found: Sequence[Mistake]) -> Markup:
    rows = [
        Bar(item.kind, len(item.students), units.number_of(len(item.students), "student"), "orange")
        for item in found
    ]
    return Markup(bars_for_pages("What is wrong in those that are not right", rows))


def _places(found: Board) -> Markup:
    column = next(column for column in found.columns if column.name == found.by)
    known = [place for place in found.places[:FIRST] if place.values[found.by] is not None]
    rows = [
        Bar(place.pseudonym, value, found.shown(column, value), "purple")
        for place in known
        if (value := place.values[found.by]) is not None
    ]
    return Markup(bars_for_pages(f"The first places by {column.title}: less is better", rows))


def span(least: int, most: int) -> str:
    """From one number to another: 0, 1–10."""
    return str(least) if least == most else f"{least}–{most}"


def _page(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    return environment(
        {"percent": units.percent, "points": units.points}, packages=("grader.course.overview",)
    )
