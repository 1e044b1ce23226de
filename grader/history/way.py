"""The way through the ladders: how far a learner's own kernels have come on each, and what is next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.history.outcomes import Graded

FIRST_TIME = 3
"""Rungs of a ladder that are enough before the next ladder begins: the others are for the second time round."""


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


@dataclass(frozen=True)
class Next:
    """The one thing to do now."""

    what: str
    why: str
    command: str  # that can be pasted
    topic: str | None = None  # whose lesson tells of it


def following(grades: Sequence[Graded], climbed: Sequence[Climbed]) -> Next:
    """What to do now. `grades` in the order of time, `climbed` in the order of study."""
    last = grades[-1] if grades else None
    if last is not None and last.verdict != "pass" and any(each.topic == last.topic for each in climbed):
        why = "It was not right when it was graded last. The judge says where, and what to look at."
        command = f"ladder grade {last.topic} {shlex.quote(last.file)}"
        return Next(f"{last.topic}: mend {Path(last.file).name}", why, command, last.topic)
    for most in (FIRST_TIME, None):
        for each in climbed:
            if each.reached < len(each.rungs[:most]):
                return _rung(each, grades)
    return Next("An interview", "You have reached the top of every ladder.", "ladder loop")


def _rung(climbed: Climbed, grades: Sequence[Graded]) -> Next:
    """The next rung of a ladder, or its first kernel."""
    topic, rung = climbed.topic, climbed.rungs[climbed.reached]
    files = [grade.file for grade in grades if grade.topic == topic and grade.verdict == "pass"]
    if climbed.rung is None or not files:
        why = "The first kernel of a ladder is the one that you would write first: right is enough."
        return Next(f"{topic}: your first kernel", why, f"ladder new {topic}", topic)
    why = f"You have reached {climbed.rung}, {climbed.reached} of {len(climbed.rungs)} rungs."
    return Next(f"{topic}: rung {rung}", why, f"ladder hint {topic} {shlex.quote(files[-1])}", topic)
