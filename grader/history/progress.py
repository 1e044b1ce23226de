"""How a learner stands and how it changed: skills by topic, level and format, week by week, and the weakest points."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import fmean

from grader.history.items import Item, up_to
from grader.history.outcomes import LEVELS, Level, Outcome
from grader.history.schedule import Schedule
from grader.history.way import Climbed

WEEKS = 12
"""How far back a trend goes."""

LATEST = 3
"""How many of a point's latest outcomes say how weak it is: one lucky guess does not cure it."""

WEAK_BELOW = 0.7
NO_TOPIC = "no ladder"
"""The skill of items that belong to no ladder."""


@dataclass(frozen=True)
class Week:
    """How it stood at the end of a week."""

    monday: date
    share: (
        float | None
    )  # mean over the items asked so far of what each earned last, 0 to 1; None: nothing yet
    asked: int  # outcomes in this week


@dataclass(frozen=True)
class Skill:
    """What is known of a topic, a level or a format."""

    name: str
    share: float | None  # as in the last week; None: nothing was asked
    rated: float | None  # what the learner gave the own prose, on average
    asked: int  # items that were asked
    items: int  # items that there are
    due: int  # items that are due
    weeks: tuple[Week, ...]  # the last of them is now's

    @property
    def change(self) -> float | None:
        """Against four weeks ago, or the first week there is since; None: there is no earlier week."""
        known = [week.share for week in self.weeks[-5:] if week.share is not None]
        return known[-1] - known[0] if len(known) > 1 else None


@dataclass(frozen=True)
class WeakPoint:
    """A point that is not known yet, or no longer."""

    item: Item  # by which it was asked last
    share: float  # mean of its latest outcomes, 0 to 1
    asked: int
    last: datetime  # UTC


@dataclass(frozen=True)
class Progress:
    """Everything that `ladder progress` shows."""

    when: datetime
    outcomes: int
    days: int  # on which something was answered
    seconds: float
    whole: Skill
    topics: list[Skill]
    levels: list[Skill]
    formats: list[Skill]
    weak: list[WeakPoint]  # the weakest first
    kernels: list[Climbed]  # the way through the ladders


def progress(
    outcomes: Sequence[Outcome],
    items: Sequence[Item],
    now: datetime,
    level: Level = "staff",
    kernels: Sequence[Climbed] = (),
) -> Progress:
    """The progress at `now`, whose time zone decides where days and weeks begin.

    `outcomes` in the order of time. Items above `level` that were never asked are no gap yet; outcomes of items that
    there are no longer count in the past of their topics, but they are not due, and no weak points. `kernels` are what
    `way` finds.
    """
    schedule = Schedule(outcomes)
    wanted = {item.key for item in up_to(level, items)} | {item.key for item in items if item.key in schedule}
    counted = [item for item in items if item.key in wanted]
    view = _View(outcomes, counted, set(schedule.due(now)), now)
    return Progress(
        when=now,
        outcomes=len(outcomes),
        days=len({day for day, _ in view.outcomes}),
        seconds=sum(found.seconds for found in outcomes),
        whole=view.skill("everything", lambda found: ("everything",)),
        topics=view.skills(lambda found: found.topics or (NO_TOPIC,)),
        levels=sorted(view.skills(lambda found: (found.level,)), key=_rank),
        formats=view.skills(lambda found: (found.format,)),
        weak=weak_points(outcomes, counted),
        kernels=list(kernels),
    )


def weak_points(outcomes: Iterable[Outcome], items: Iterable[Item]) -> list[WeakPoint]:
    """Points whose latest outcomes earned less than `WEAK_BELOW`, the weakest first, of equals what was asked last."""
    known = {item.key: item for item in items}
    of: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.item in known:
            of.setdefault(known[outcome.item].subject, []).append(outcome)
    found = [
        WeakPoint(known[asked[-1].item], share, len(asked), asked[-1].when)
        for asked in of.values()
        if (share := _mean(asked[-LATEST:])) < WEAK_BELOW
    ]
    return sorted(found, key=lambda point: (point.share, -point.last.timestamp(), point.item.key))


Names = Callable[[Outcome | Item], tuple[str, ...]]
"""What an outcome or an item belongs to: its topics, say."""


class _View:
    """Outcomes with their days, and items, to pick from."""

    def __init__(
        self, outcomes: Iterable[Outcome], items: Sequence[Item], due: set[str], now: datetime
    ) -> None:
        self.outcomes = [(found.when.astimezone(now.tzinfo).date(), found) for found in outcomes]
        self.items, self.due, self.now = items, due, now

    def skills(self, names: Names) -> list[Skill]:
        """A skill for each name that outcomes or items have, sorted."""
        found = {name for _, outcome in self.outcomes for name in names(outcome)}
        found |= {name for item in self.items for name in names(item)}
        return [self.skill(name, names) for name in sorted(found, key=lambda name: (name == NO_TOPIC, name))]

    def skill(self, name: str, names: Names) -> Skill:
        outcomes = [each for each in self.outcomes if name in names(each[1])]
        items = [item for item in self.items if name in names(item)]
        weeks = _weeks(outcomes, self.now)
        latest = {found.item: found for _, found in outcomes}
        rated = [found.rated for found in latest.values() if found.rated is not None]
        return Skill(
            name=name,
            share=weeks[-1].share,
            rated=fmean(rated) if rated else None,
            asked=len(latest),
            items=len({item.key for item in items} | set(latest)),
            due=sum(item.key in self.due for item in items),
            weeks=weeks,
        )


def _rank(skill: Skill) -> int:
    return LEVELS.index(skill.name)


def _weeks(outcomes: Iterable[tuple[date, Outcome]], now: datetime) -> tuple[Week, ...]:
    """The last weeks up to `now`'s, each as it ended; `outcomes` with their days, in the order of time."""
    this_monday = now.date() - timedelta(days=now.weekday())
    latest: dict[str, Outcome] = {}
    coming, weeks = deque(outcomes), []
    for back in reversed(range(WEEKS)):
        monday = this_monday - timedelta(weeks=back)
        asked = 0
        while coming and coming[0][0] < monday + timedelta(weeks=1):
            day, found = coming.popleft()
            latest[found.item] = found
            asked += day >= monday
        weeks.append(Week(monday, _mean(latest.values()) if latest else None, asked))
    return tuple(weeks)


def _mean(outcomes: Iterable[Outcome]) -> float:
    """The mean share; not below 0, where only bad luck in guessing leads."""
    return max(0.0, fmean(found.share for found in outcomes))
