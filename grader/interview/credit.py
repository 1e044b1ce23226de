"""What a checked answer is worth: nothing that is only said counts, and nobody gains by guessing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from grader.interview.session import Probed, Session, Talk

UNPROMPTED, PROMPTED = 1.0, 0.5
"""What a point is worth where it was said at once, and where it took a nudge or a second question."""


class Checked(Protocol):
    """An answer to a probe."""

    @property
    def right(self) -> bool: ...

    @property
    def chance(self) -> float:
        """How probable it is that a guess is right."""


def of_probe(answer: Checked) -> float:
    """1 where it is right, else what guessing would have earned, taken off: on average a guess earns 0."""
    return 1.0 if answer.right else -answer.chance / (1 - answer.chance)


def of_point(answers: Sequence[Checked], heard: bool) -> float:
    """What of a point's weight is earned by its probes: the first and, where it was heard and that was wrong, a second.

    A guesser who is right with probability p, and then q, earns p + (1 - p) q / 2 by luck; where both are wrong, as
    much is taken off as makes that 0 on average. 0 where nothing was answered.
    """
    if not answers:
        return 0.0
    first, *again = answers
    if not heard:
        return PROMPTED * of_probe(first)
    if first.right:
        return UNPROMPTED
    if not again:
        return of_probe(first)
    if again[0].right:
        return PROMPTED
    p, q = first.chance, again[0].chance
    return -(p + PROMPTED * (1 - p) * q) / ((1 - p) * (1 - q))


@dataclass(frozen=True)
class Point:
    """A key point of an answer: said or not, and what its probes showed."""

    weight: int
    text: str
    heard: bool | None  # None: it was not to be said, only to be answered
    answers: list[Probed]  # in order; none: there was no time, or nothing was said

    @property
    def confirmed(self) -> bool:
        """Whether a probe was answered right, in time."""
        return any(answer.right and not answer.late for answer in self.answers)

    @property
    def share(self) -> float:
        """What of the weight was earned; below 0 for a wrong guess."""
        return of_point([answer for answer in self.answers if not answer.late], self.heard is not False)


def points(kept: Session, step: str) -> list[Point]:
    """The points of a talk as they stand; [] where it was not asked."""
    talk = kept.answer(step)
    if not isinstance(talk, Talk):
        return []
    found = []
    for number, said in enumerate(talk.points):
        answers = [kept.answer(f"{step}.{number}.{part}") for part in ("probe", "again")]
        probed = [answer for answer in answers if isinstance(answer, Probed)]
        found.append(Point(said.weight, said.text, said.heard, probed))
    return found


def of_talk(kept: Session, step: str) -> float:
    """The share of a talk that was confirmed, up to 1; below 0 for wrong guesses. A late one earns nothing."""
    talk = kept.answer(step)
    if not isinstance(talk, Talk) or talk.late:
        return 0.0
    found = points(kept, step)
    return sum(point.share * point.weight for point in found) / sum(point.weight for point in found)
