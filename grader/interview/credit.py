"""What a checked answer is worth: prose counts for nothing, and guessing earns nothing on average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from grader.interview.session import Probed, Session, Talk


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


@dataclass(frozen=True)
class Point:
    """A key point of an answer, and what its probe showed."""

    weight: int
    text: str
    answer: Probed | None  # to its probe; None: it was not asked
    skipped: bool = False  # the candidate passed the question, with its probes

    @property
    def confirmed(self) -> bool:
        """Whether the probe was answered right, in time."""
        return self.share == 1.0

    @property
    def unasked(self) -> str:
        """Why there is no answer; "" where there is one."""
        return "" if self.answer is not None else "skipped" if self.skipped else "not asked"

    @property
    def share(self) -> float:
        """What of the weight was earned; below 0 for a wrong guess."""
        return 0.0 if self.answer is None or self.answer.late else of_probe(self.answer)


def points(kept: Session, step: str) -> list[Point]:
    """The points of a talk as they stand; [] where it was not asked."""
    talk = kept.answer(step)
    if not isinstance(talk, Talk):
        return []
    answers = [kept.answer(f"{step}.{number}.probe") for number in range(len(talk.points))]
    return [
        Point(point.weight, point.text, answer if isinstance(answer, Probed) else None, talk.skipped)
        for point, answer in zip(talk.points, answers, strict=True)
    ]


def of_talk(kept: Session, step: str) -> float:
    """What the probes of a talk earned, up to 1; below 0 for wrong guesses. A late one earns nothing."""
    talk = kept.answer(step)
    if not isinstance(talk, Talk) or talk.late:
        return 0.0
    found = points(kept, step)
    return sum(point.share * point.weight for point in found) / sum(point.weight for point in found)
