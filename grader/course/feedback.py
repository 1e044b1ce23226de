"""What a graded cell shows, of advice and of marks alike: what its rung asks for, what was found, and what to try."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from grader.course.orders import Marked
from grader.lab import show
from grader.report import console as views
from grader.results import ClaimResult, Grade
from grader.workbook import units
from grader.workbook.topic import Topic


def earned(topic: Topic, grade: Grade, rung: str) -> int:
    """The points of a rung: of its claims, where it and every rung below it were reached."""
    if rung not in _paid(topic, grade):
        return 0
    return sum(claim.points for claim in grade.claims if claim.rung == rung and claim.held)


def worth(topic: Topic, rung: str) -> int:
    """The points that a rung's claims are worth."""
    return sum(claim.points for claim in topic.claims if claim.rung == rung)


def scaled(topic: Topic, grade: Grade, rung: str, most: float) -> float:
    """The points of a rung whose cell an instructor may have given others than the topic does: in proportion."""
    return most * earned(topic, grade, rung) / worth(topic, rung)


def against(shown: float | None, mark: Marked) -> str:
    """That a notebook shows more points than its kernel has on the public cases; "" where it does not, or shows none.

    It may have been changed after it was run, or its graded cells graded what no cell of it says.
    """
    if shown is None or shown <= mark.public.points:
        return ""
    return f"the notebook shows {units.points(shown)} points, its kernel has {mark.public.points}"


def of_rung(topic: Topic, grade: Grade, rung: str, source: Sequence[str], doubt: str = "") -> RenderableType:
    """What became of a rung; with the lowest one, of the kernel as a whole. `source` are the submission's lines,
    `doubt` is what `against` says of it."""
    ids = topic.ladder.ids
    parts: list[RenderableType] = []
    if rung == ids[0]:
        parts += [views.grade(grade, ids, source), ""]
        if doubt:
            parts += [
                Text(f"Look at this: {doubt}. What is marked is the kernel's cell as it stands here."),
                "",
            ]
    parts.append(_heading(topic, grade, rung))
    if rung != ids[0]:
        parts.append(views.claims(_claims(topic, grade, rung), _paid(topic, grade)))
        parts += [Text(f"Next: {hint.text}") for hint in grade.hints if hint.rung == rung]
    return show.stacked(*parts)


def _heading(topic: Topic, grade: Grade, rung: str) -> Text:
    """Points, and why there are none where that is not the rung's own fault."""
    got, most = earned(topic, grade, rung), worth(topic, rung)
    style = "bold green" if got == most else "bold red"
    text = Text.assemble((f"{rung}: ", "bold"), (f"{got} of {units.number_of(most, 'point')}", style))
    if grade.verdict != "pass":
        return text.append(". Points are for kernels that pass every case.")
    if got < most and all(claim.held for claim in _claims(topic, grade, rung)):
        slow = any(limit.rung == rung and not limit.held for limit in grade.time_limits)
        missing = "it is too slow" if slow else "points are earned rung by rung, and one below is missing"
        text.append(f". Its claims hold; {missing}.")
    return text


def _claims(topic: Topic, grade: Grade, rung: str) -> list[ClaimResult]:
    """A rung's claims as they were checked; not known where the kernel did not get as far."""
    found = [claim for claim in grade.claims if claim.rung == rung]
    return found or [
        ClaimResult(claim.text, None, None, claim.rung, claim.points)
        for claim in topic.claims
        if claim.rung == rung
    ]


def _paid(topic: Topic, grade: Grade) -> Sequence[str]:
    """The rungs that earn points: those up to the one reached."""
    return topic.ladder.up_to(grade.rung_reached) if grade.verdict == "pass" else ()
