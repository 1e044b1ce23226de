"""The way through the ladders: how far a learner's own kernels have come on each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.history.outcomes import Graded


@dataclass(frozen=True)
class Climbed:
    """How far a learner has come on one ladder."""

    topic: str
    rungs: tuple[str, ...]  # of the ladder, by id
    rung: str | None  # the highest that was reached; None: no kernel was right
    graded: int  # kernels, of which each counts once however often it was graded

    @property
    def reached(self) -> int:
        """How many rungs."""
        return 0 if self.rung is None else self.rungs.index(self.rung) + 1


def way(grades: Iterable[Graded], ladders: Mapping[str, Sequence[str]]) -> list[Climbed]:
    """Of each ladder, in their order. What was reached of a rung that there is no longer counts for nothing."""
    found: dict[str, list[Graded]] = {topic: [] for topic in ladders}
    for grade in grades:
        found.setdefault(grade.topic, []).append(grade)
    return [
        Climbed(
            topic,
            tuple(rungs),
            max(
                (grade.rung for grade in found[topic] if grade.rung in rungs),
                key=lambda rung: rungs.index(rung),
                default=None,
            ),
            len({grade.digest for grade in found[topic]}),
        )
        for topic, rungs in ladders.items()
    ]
