"""The way of a learner: small exercises and ladders in the order of study, and what was reached of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.history.outcomes import Graded
from grader.history.way import FIRST_TIME, way
from grader.workbook.exercises import Exercise, with_ladders
from grader.workbook.topic import Topic


@dataclass(frozen=True)
class Stop:
    """An exercise or a ladder."""

    name: str
    title: str
    ladder: bool
    reached: int
    of: int  # rungs; of an exercise 1

    @property
    def done(self) -> bool:
        """Whether it is enough for the first time."""
        return self.reached >= min(self.of, FIRST_TIME)


def stops(
    topics: Mapping[str, Topic], exercises: Mapping[str, Exercise], grades: Sequence[Graded]
) -> list[Stop]:
    """All of them, an exercise before the ladder that it prepares."""
    known = with_ladders(exercises, topics)
    ladders = {name: each.ladder.ids for name, each in known.items()}
    return [
        Stop(each.topic, known[each.topic].title, each.topic in topics, each.reached, len(each.rungs))
        for each in way(grades, ladders)
    ]


def here(found: Sequence[Stop]) -> Stop:
    """Where to go on: the first that is not done."""
    return next((stop for stop in found if not stop.done), found[-1])


def after(found: Sequence[Stop], name: str) -> Stop | None:
    """The next one that is not done, behind that of the name or before it; None: all are."""
    place = [stop.name for stop in found].index(name)
    return next((stop for stop in (*found[place + 1 :], *found[:place]) if not stop.done), None)
