"""How long a submission may take that reaches a rung.

Counters say what a kernel does, and not that it is any good: one warp that does everything has those of a rung far up.
So the time decides as well. A rung may teach a step that is not faster than the one before: the slower of the two is
what a submission is compared with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.analysis.model import ModelledTime
from grader.analysis.what_if import Modelled
from grader.results import TimeLimit, TimeSource
from grader.workbook.ladder import Ladder
from grader.workbook.source_file import SourceFile

SLACK = 1.1
"""A submission may take so many times what the slower of the two takes."""


@dataclass(frozen=True)
class Model:
    """What modelled times are made of."""

    own: ModelledTime
    rungs: Mapping[str, Modelled]
    multiprocessors: int


@dataclass(frozen=True)
class Times:
    """Seconds of a submission and of rungs at the main sizes, all known in the same way."""

    own_s: float | None  # None: it could not be timed
    rungs: Mapping[str, float] = field(default_factory=dict)
    source: TimeSource = "modelled"
    own_least_s: float | None = None  # measured: the lower end of the confidence interval of `own_s`
    rungs_most_s: Mapping[str, float] = field(default_factory=dict)  # the upper ends of those of `rungs`
    naive_s: float | None = None  # rung 0's, where it is known without a measurement of its own
    bound_s: float | None = (
        None  # under which no version can run; None where the topic's kind has no such figure
    )
    model: Model | None = None  # None: the times are measured, or those of schedules


def compared_with(ladder: Ladder[SourceFile], rungs: Sequence[str]) -> list[str]:
    """The rungs whose times the limits of some rungs are made of, in the ladder's order."""
    places = {place for rung in rungs for place in (ladder.place(rung) - 1, ladder.place(rung))}
    return [rung for place, rung in enumerate(ladder.ids) if place in places]


def limit(ladder: Ladder[SourceFile], rung: str, times: Times) -> TimeLimit | None:
    """Whether a submission keeps a rung's limit; None where neither of the two rungs has a time.

    Measured times are as wide as their confidence intervals, and a limit is only broken where these lie apart: the same
    kernel, timed again, should not lose its rung to what else the machine does.
    """
    beside = [
        times.rungs_most_s.get(name, times.rungs[name])
        for name in compared_with(ladder, [rung])
        if name in times.rungs
    ]
    if not beside:
        return None
    most = SLACK * max(beside)
    own = times.own_s if times.own_least_s is None else times.own_least_s
    return TimeLimit(rung, most, own is not None and own <= most)
