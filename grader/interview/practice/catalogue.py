"""Everything that can be asked, as items of a learner's history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.history.items import Item
from grader.interview.bank import Entry, Question
from grader.interview.conversation import all_steps
from grader.interview.points import Point
from grader.interview.probes.kinds import Probe
from grader.interview.rounds import Interview

JUDGED = {
    "code": "the code of {rung}",
    "before": "the ratio before {rung}",
    "after": "the ratio of {rung}, predicted",
    "now": "the ratio of {rung}",
}
"""Steps of a coding round that are no probes, and what they show to be known."""


@dataclass(frozen=True)
class Askable:
    """An item with its probe."""

    item: Item
    probe: Probe
    point: Point  # that the probe confirms


class Catalogue:
    """What there is to ask, by the item's key."""

    def __init__(self, questions: Iterable[Question] = (), interviews: Iterable[Interview] = ()) -> None:
        self.askable: dict[str, Askable] = {}  # by itself
        self.items: dict[str, Item] = {}  # all of them
        for question in questions:
            rungs = tuple(f"{kernel.topic}/{kernel.rung}" for kernel in question.kernels)
            self._add(_probed(question, question.points, question.topics, "quiz", rungs))
        for interview in interviews:
            self._add(_probed(interview, interview.points, (interview.topic,), "interview", ()))
            for item in interview.rounds:
                points = (*item.limits, *item.next)
                rungs = (f"{interview.topic}/{item.rung}",)
                self._add(_probed(interview, points, (interview.topic,), "interview", rungs))
            self.items |= {item.key: item for item in _judged(interview)}

    @property
    def fresh(self) -> list[Item]:
        """What may be asked without anything else before it: an interview would be given away."""
        return [found.item for found in self.askable.values() if found.item.format == "quiz"]

    def _add(self, found: Iterable[Askable]) -> None:
        for each in found:
            self.askable[each.item.key] = each
            self.items[each.item.key] = each.item


def _probed(
    entry: Entry, points: Sequence[Point], topics: tuple[str, ...], form: str, rungs: tuple[str, ...]
) -> Iterator[Askable]:
    for point in points:
        for probe in point.probes:
            item = Item(
                key=f"{entry.name}/{probe.name}",
                title=entry.title,
                point=point.text,
                level=entry.level,
                topics=topics,
                builds_on=entry.builds_on,
                format=form,
                terms=point.terms,
                rungs=rungs,
            )
            yield Askable(item, probe, point)


def _judged(interview: Interview) -> Iterator[Item]:
    """What the judge or the counters check."""
    for step in all_steps(interview):
        if step.kind in JUDGED:
            rung = interview.rounds[step.number].rung
            yield Item(
                key=f"{interview.topic}/{step.id}",
                title=interview.title,
                point=JUDGED[step.kind].format(rung=rung),
                level=interview.level,
                topics=(interview.topic,),
                builds_on=interview.builds_on,
                format="interview",
                rungs=(f"{interview.topic}/{rung}",),
                alone=False,
            )
