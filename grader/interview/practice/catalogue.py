"""Everything that can be asked, as items of a learner's history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from grader.history.items import Item, up_to
from grader.history.outcomes import Level
from grader.history.schedule import ITEMS_A_DAY, Day, Schedule
from grader.interview import bank, rounds
from grader.interview.bank import ROLES, Entry, Question
from grader.interview.conversation import all_steps
from grader.interview.drills.drill import Drill
from grader.interview.drills.formats import FORMATS
from grader.interview.points import Point
from grader.interview.probes.kinds import Probe
from grader.interview.rounds import Interview
from grader.workbook.topic import Topic

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

    def __init__(
        self,
        questions: Iterable[Question] = (),
        interviews: Iterable[Interview] = (),
        drills: Mapping[str, Iterable[Drill]] | None = None,
    ) -> None:
        """`drills` by the name of their format."""
        self.askable: dict[str, Askable] = {}  # by itself
        self.items: dict[str, Item] = {}  # all of them
        self.questions = {question.name: question for question in questions}
        for question in self.questions.values():
            rungs = tuple(f"{kernel.topic}/{kernel.rung}" for kernel in question.kernels)
            self._add(_probed(question, question.points, question.topics, "quiz", rungs))
        for interview in interviews:
            self._add(_probed(interview, interview.points, (interview.topic,), "interview", ()))
            names = [f"{interview.topic}/{item.rung}" for item in interview.rounds]
            for number, item in enumerate(interview.rounds):
                for points, about in (
                    (item.limits, names[number : number + 1]),
                    (item.next, names[number : number + 2]),
                ):
                    self._add(_probed(interview, points, (interview.topic,), "interview", tuple(about)))
            self._keep(_judged(interview))
        for form, exercises in (drills or {}).items():
            for drill in exercises:
                self._keep(_steps(drill, form))

    @property
    def fresh(self) -> list[Item]:
        """What may be asked without anything else before it: an interview would be given away."""
        return [found.item for found in self.askable.values() if found.item.format == "quiz"]

    def day(
        self,
        schedule: Schedule,
        level: Level,
        topic: str | None,
        now: datetime,
        count: int = ITEMS_A_DAY,
        role: str = ROLES[0],
    ) -> Day:
        """What to ask in a day: what is due, and new questions up to a level; of a topic, or new ones for a role."""

        def wanted(items: Iterable[Item]) -> list[Item]:
            return [item for item in items if topic is None or topic in item.topics]

        fresh = [item for item in up_to(level, self.fresh) if topic or self.questions[item.name].is_for(role)]
        return schedule.day(wanted(self.items.values()), wanted(fresh), now, count)

    def _add(self, found: Iterable[Askable]) -> None:
        added = {each.item.key: each for each in found}
        self.askable |= added
        self._keep(each.item for each in added.values())

    def _keep(self, items: Iterable[Item]) -> None:
        self.items |= {item.key: item for item in items}


def discover(topics: dict[str, Topic]) -> Catalogue:
    """Everything in this installation; raises WarpladderError where a file of it is broken."""
    drills = {name: form.discover().values() for name, form in FORMATS.items()}
    return Catalogue(bank.discover().values(), rounds.discover(topics).values(), drills)


def _probed(
    entry: Entry, points: Sequence[Point], topics: tuple[str, ...], form: str, rungs: tuple[str, ...]
) -> Iterator[Askable]:
    for point in points:
        for probe in point.probes:
            item = Item(
                key=f"{entry.name}/{probe.name}",
                title=entry.title if form == "quiz" else entry.name,
                point=point.text,
                level=entry.level,
                topics=topics,
                builds_on=entry.builds_on,
                format=form,
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
                title=interview.topic,
                point=JUDGED[step.kind].format(rung=rung),
                level=interview.level,
                topics=(interview.topic,),
                builds_on=interview.builds_on,
                format="interview",
                rungs=(f"{interview.topic}/{rung}",),
                alone=False,
            )


def _steps(drill: Drill, form: str) -> Iterator[Item]:
    """What a drill asks about what it gives, and what its format asks after that."""
    asked = [(step.probe.name, step.title) for step in drill.steps]
    for name, title in (*asked, *((name, name) for name, _ in drill.further)):
        yield Item(
            key=f"{form}/{drill.name}/{name}",
            title=drill.title,
            point=title,
            level=drill.level,
            topics=drill.topics,
            builds_on=drill.builds_on,
            format=form,
            alone=False,
        )
