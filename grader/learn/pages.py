"""The page to learn on, from the templates beside this module and those that pages share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import jinja2
import numpy as np
from markupsafe import Markup

from grader.history.way import FIRST_TIME
from grader.learn.desk import Desk, Verdict
from grader.learn.lesson import prose, sections
from grader.learn.way import after
from grader.report import console, pages
from grader.report.pictures import accesses
from grader.report.pictures.arrays import NARROW
from grader.report.rendering import environment
from grader.results import Accesses, ClaimResult, Grade, Number, SmallCase
from grader.workbook import units
from grader.workbook.exercises import Exercise
from grader.workbook.ladder import figures

COLUMN = 520.0
"""Pixels, which the editor's column is wide at least where it stands beside the text: a picture is not shrunk there."""


@dataclass(frozen=True)
class Cell:
    """An element, drawn as a box."""

    text: str
    wrong: bool = False


@dataclass(frozen=True)
class Row:
    """A row of an array, drawn as boxes."""

    name: str  # "" for those below the first
    cells: tuple[Cell, ...]


def whole(desk: Desk, name: str, section: int, complaint: str = "") -> str:
    """The page of a stop, as a browser opens it."""
    topic = desk.topic(name)
    lesson = sections(topic)
    at = min(section, max(0, len(lesson) - 1))
    return (
        _environment()
        .get_template("learn.html.j2")
        .render(
            **_parts(desk, name, complaint),
            topic=topic,
            example=_example(topic) if isinstance(topic, Exercise) else [],
            lesson=lesson,
            at=at,
            section=lesson[at] if lesson else None,
            file=desk.file(name),
            source=desk.source(name),
        )
    )


def parts(desk: Desk, name: str, complaint: str) -> str:
    """What changes of it with a verdict or a hint."""
    return _environment().get_template("parts.html.j2").render(**_parts(desk, name, complaint))


@cache
def style() -> str:
    """The style sheet."""
    return _environment().get_template("learn.css.j2").render()


def picture(drawn: Accesses, name: str, narrow: bool) -> str:
    """What one block of a kernel file of that name accesses, as SVG."""
    return accesses(drawn, name, NARROW if narrow else COLUMN)


def _parts(desk: Desk, name: str, complaint: str) -> dict[str, object]:
    """What a verdict or a hint changes."""
    topic, found, verdict = desk.topic(name), desk.way(), desk.verdicts.get(name)
    here = next(stop for stop in found if stop.name == name)
    hints = desk.hints(name, here.reached)
    told = min(desk.hints_told.get(name, 0), len(hints))
    return {
        "name": name,
        "exercise": topic if isinstance(topic, Exercise) else None,
        "stops": found,
        "first_time": FIRST_TIME,
        "here": here,
        "after": after(found, name),
        "stamp": desk.stamp(name),
        "verdict": verdict,
        "seen": _seen(verdict) if verdict else "",
        "asked": _asked(verdict.result) if verdict and isinstance(topic, Exercise) else [],
        "small": _small(verdict.result.small) if verdict and verdict.result.small else [],
        "hints": hints[:told],
        "left": len(hints) - told,
        "complaint": complaint,
        "unremembered": desk.unwritten or desk.unread,
    }


def _seen(verdict: Verdict) -> Markup:
    """Why it does not pass; a case that failed is shown in boxes, and not named."""
    return pages.what_was_seen(replace(verdict.result, cases=[]), verdict.source)


def _asked(result: Grade) -> list[ClaimResult]:
    """What the task asks for besides, and a kernel does not do that is right; of a wrong one nothing."""
    return [claim for claim in result.claims if result.verdict == "pass" and claim.held is False]


def _small(case: SmallCase) -> list[Row]:
    """A case that can be read, whole: what goes in, what is expected, and what the kernel made of it."""
    rows = [row for name, values in case.inputs.items() for row in _rows(name, values)]
    rows += _rows(f"{case.output}, expected", case.expected)
    return rows + _rows(f"{case.output}, yours", case.actual, case.expected)


def _example(exercise: Exercise) -> list[Row]:
    """The first of an exercise's cases: what goes in, and what is to come out."""
    problem = exercise.judge_cases[0]
    inputs = exercise.reference.make_inputs(problem, np.random.default_rng(1), "exact")
    outputs = exercise.reference.reference(inputs, problem)
    rows = [row for name, values in inputs.items() for row in _rows(name, np.atleast_2d(values).tolist())]
    return rows + [
        row
        for name, values in outputs.items()
        for row in _rows(f"{name}, expected", np.atleast_2d(values).tolist())
    ]


def _rows(name: str, values: list[list[Number]], right: list[list[Number]] | None = None) -> list[Row]:
    return [
        Row(
            name if not at else "",
            tuple(
                Cell(_written(value), right is not None and right[at][place] != value)
                for place, value in enumerate(row)
            ),
        )
        for at, row in enumerate(values)
    ]


def _written(value: Number) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@cache
def _environment() -> jinja2.Environment:
    return environment(
        {"prose": prose, "problem": units.problem, "figures": figures},
        {"VERDICTS": console.VERDICTS},
        ("grader.learn", "grader.web"),
    )
