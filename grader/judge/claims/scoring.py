"""Claims checked on what was counted. Which rung they reach is the ladder's to say: see grader/workbook/ladder.py."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from grader.results import ClaimResult
from grader.workbook.expressions import Expression, Number, parse
from grader.workbook.ladder import ClaimSpec


def right(claims: Iterable[ClaimSpec], held: bool | None) -> list[ClaimResult]:
    """Those of the claims that a submission keeps by being right."""
    return [
        ClaimResult(claim.text, held, None, claim.rung, claim.points)
        for claim in claims
        if claim.expect is None
    ]


def check(claim: ClaimSpec, values: Mapping[str, Number] | None) -> ClaimResult:
    """Evaluate what a claim expects; without values, because nothing was counted, it is neither held nor broken.

    Raises ExpressionError where the claim names something that is not counted.
    """
    expect = claim.expect
    assert expect is not None, "that a submission is right is the grade's to say"
    if values is None:
        return ClaimResult(claim.text, None, None, claim.rung, claim.points, expect.text)
    return ClaimResult(
        text=claim.text,
        held=bool(expect.evaluate(values)),
        value=_value(expect.subject, values),
        rung=claim.rung,
        points=claim.points,
        expect=expect.text,
        limit=_value(_limit(expect), values),
        per=_value(claim.per, values) or None,
        unit=claim.unit,
    )


def elsewhere(claims: Iterable[ClaimResult]) -> list[ClaimResult]:
    """Claims at sizes that they are not for: one that does not hold there says nothing."""
    return [claim if claim.held else replace(claim, held=None) for claim in claims]


def _limit(expect: Expression) -> Expression | None:
    """The right side of a claim that is a single comparison, and whose two sides say something: not a remainder."""
    left_and_right = re.split(r"<=|>=|==|!=|<|>", expect.text)
    if len(left_and_right) != 2 or re.search(r"\b(and|or|not)\b|%", expect.text):
        return None
    return parse(left_and_right[1])


def _value(side: Expression | None, values: Mapping[str, Number]) -> float | None:
    return None if side is None else float(side.evaluate(values))
