"""Designs: a service or a training job with requirements. Numbers first, then the plan in prose, with what fails.

Besides what every drill has, a file gives `question`, which asks for the plan, its weight `question_weight`, the model
`answer`, and `[[point]]`s as a question of the bank has them, whose weights sum to 100. The weights of the steps and
`question_weight` sum to 100.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.interview.drills.drill import (
    HEAD,
    Drill,
    Format,
    look_back,
    nothing_to_prove,
    read_head,
    read_table,
)
from grader.interview.points import Point, check_weights, read_points
from grader.interview.probes.kinds import fields, known
from grader.interview.probes.posing import formatted
from grader.interview.prompts import Flow
from grader.interview.reading import prose
from grader.interview.talks import Talks

PLAN = "plan"
"""The step at which the plan is asked for, and what it is called on the card."""

LEAST_POINTS = 3


@dataclass(frozen=True, kw_only=True)
class Design(Drill):
    """Something to be built."""

    question: str  # asks for the plan, with {parameters}
    question_weight: int  # of 100, beside the steps
    answer: str  # the model answer
    points: tuple[Point, ...]  # of the plan

    @property
    def further(self) -> tuple[tuple[str, int], ...]:
        return ((PLAN, self.question_weight),)


def read_design(path: Path) -> Design:
    """A design; raises WarpladderError."""
    table = read_table(path)
    table.allow(*HEAD, "question", "question_weight", "answer", "point")
    head, weight, question = read_head(table), table.get("question_weight", int), prose(table, "question")
    check_weights(table, "step", [weight, *(step.weight for step in head["steps"])])
    for field in fields(table, "question", question):
        known(table, "question", field, head["draw"])
    return Design(
        **head,
        question=question,
        question_weight=weight,
        answer=prose(table, "answer"),
        points=read_points(table, "point", LEAST_POINTS),
    )


def ask_for_the_plan(drill: Design, talks: Talks, step: str) -> Flow[None]:
    """Tell the right figures, so that nobody plans with wrong ones; then ask for the plan."""
    asked, heading = f"{step}.{PLAN}", f"{drill.title}: the plan"
    yield from look_back(drill, talks, step)
    if talks.clock.up:
        return
    question = formatted(drill.question, drill.drawn(talks.kept.seed))
    yield from talks.converse(asked, heading, question, drill.points, f"{FORMAT.name}/{drill.name}")
    yield from talks.checked(heading, asked)
    yield from talks.rate(asked, drill.answer)


FORMAT = Format("design", "figures and a plan", 1, read_design, nothing_to_prove, ask_for_the_plan)
