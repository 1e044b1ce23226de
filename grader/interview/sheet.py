"""The interviewer's sheet of a coding interview, for two people: a plan of the time, and each version's ratios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.interview.rounds import Interview, Round
from grader.judge.values import of_file
from grader.workbook.expressions import ExpressionError, Number
from grader.workbook.topic import Topic

_MINUTES_TO_BEGIN, _MINUTES_TO_END = 5, 5


@dataclass(frozen=True)
class Version:
    """A round on the sheet."""

    round: Round
    begin: int  # minutes from the start, as a plan
    before: float | None  # the ratio of the version before, counted on the workbook's
    after: (
        float | None
    )  # of this version; None where it has none, such as wavefronts a request without requests


@dataclass(frozen=True)
class Sheet:
    """What the one who asks has before them."""

    interview: Interview
    versions: list[Version]
    problem: dict[str, int | float]  # the sizes that ratios were counted at


def of_interview(interview: Interview, topic: Topic, arch: str | None = None) -> Sheet:
    """The sheet of an interview, its ratios counted on the workbook's kernels; takes seconds a version."""
    counted = {item.rung: of_file(topic, topic.rung(item.rung).path, arch) for item in interview.rounds}
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
    return Sheet(interview, versions, topic.claim_sizes)


def _ratio(item: Round, values: Mapping[str, Number]) -> float | None:
    if item.ratio is None:
        return None
    try:
        return float(item.ratio.value.evaluate(values))
    except ExpressionError:
        return None
