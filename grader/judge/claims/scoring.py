"""What counters prove: claims, the rung they reach, and the points that are due."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from grader.results import ClaimResult
from grader.workbook.expressions import Expression, Number, parse
from grader.workbook.topics import ClaimSpec, Topic


def rung_order(topic: Topic) -> tuple[str, ...]:
    """The ids of the ladder, from rung 0 up."""
    return tuple(rung.id for rung in topic.rungs)


def claims_up_to(topic: Topic, rung: str) -> tuple[ClaimSpec, ...]:
    """A rung's own claims and those of every rung before it, in the ladder's order."""
    order = rung_order(topic)
    reached = order[: order.index(rung) + 1]
    return tuple(claim for name in reached for claim in topic.claims if claim.rung == name)


def check(claim: ClaimSpec, values: Mapping[str, Number] | None) -> ClaimResult:
    """Evaluate a claim; without values, because nothing was counted, it is neither held nor broken.

    Raises ExpressionError where the claim names something that is not counted.
    """
    if values is None:
        return ClaimResult(claim.text, None, None, claim.rung, claim.points, claim.expect.text)
    return ClaimResult(
        text=claim.text,
        held=bool(claim.expect.evaluate(values)),
        value=_value(claim.expect.subject, values),
        rung=claim.rung,
        points=claim.points,
        expect=claim.expect.text,
        limit=_value(_limit(claim.expect), values),
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


def reached(order: Sequence[str], claims: Iterable[ClaimResult]) -> str:
    """The last rung such that its claims and those of every rung before it hold.

    Rung 0 is reached by every correct kernel: there is nothing below it.
    """
    broken = {claim.rung for claim in claims if claim.held is not True}
    last = order[0]
    for rung in order:
        if rung in broken:
            break
        last = rung
    return last


def points(order: Sequence[str], rung: str, claims: Iterable[ClaimResult]) -> int:
    """What the claims of the reached rungs are worth: a rung above a missing one earns nothing."""
    earned = order[: order.index(rung) + 1]
    return sum(claim.points for claim in claims if claim.rung in earned and claim.held)
