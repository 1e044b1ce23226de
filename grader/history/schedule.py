"""When each item is due again, by FSRS, the free spaced repetition scheduler.

Nothing of it is kept: the state of an item follows from its outcomes, whichever file they came from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime

from fsrs import Card, Rating, Scheduler

from grader.history.items import Item, in_order
from grader.history.outcomes import Outcome

GOOD, HARD = 0.9, 0.4
"""Shares from which an answer counts as right, and as right after help; below, the item is forgotten."""

ITEMS_A_DAY = 12
"""About ten minutes."""

LONGEST_DAYS = 120
"""However well an item is known, it comes back within a season: facts of this field grow old."""

NEW_A_QUESTION = 2
"""So many new items of one question a day: the explanation of one helps with the next."""

NEW_SHARE = 4
"""One in so many items of a day is new even where more is due than the day has room for."""

# Days at the least, since sessions are daily; no random spread, so that the same outcomes give the same dates.
_FSRS = Scheduler(learning_steps=(), relearning_steps=(), maximum_interval=LONGEST_DAYS, enable_fuzzing=False)


def rating(outcome: Outcome) -> Rating:
    """What an outcome means to FSRS. What was right in a question whose answer the learner rates 0 was hard."""
    if outcome.share >= GOOD:
        return Rating.Hard if outcome.rated == 0.0 else Rating.Good
    return Rating.Hard if outcome.share >= HARD else Rating.Again


@dataclass(frozen=True)
class Day:
    """What to do in a day."""

    again: list[Item]  # due, what has been due longest first
    new: list[Item]  # never asked, the simplest first
    waiting: int  # due items that the day has no room for
    elsewhere: list[Item]  # due, and asked only with the whole of its interview or drill

    @property
    def items(self) -> list[Item]:
        """What is asked."""
        return [*self.again, *self.new]

    @property
    def listed(self) -> dict[str, object]:
        """What programs read of it."""
        lists = {"again": self.again, "new": self.new, "elsewhere": self.elsewhere}
        return {"waiting": self.waiting, **{name: [item.listed for item in of] for name, of in lists.items()}}


class Schedule:
    """The state of every item that was asked."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        """`outcomes` in the order of time."""
        cards: dict[str, Card] = {}
        for outcome in outcomes:
            card = cards.get(outcome.item) or Card(card_id=0)
            moment = outcome.when.astimezone(UTC)
            cards[outcome.item], _ = _FSRS.review_card(card, rating(outcome), moment)
        self._cards: Mapping[str, Card] = cards

    def __contains__(self, item: str) -> bool:
        """Whether it was ever asked."""
        return item in self._cards

    def when(self, item: str) -> datetime:
        """When an item that was asked is due again, UTC."""
        return self._cards[item].due

    def recall(self, item: str, now: datetime) -> float:
        """The probability, from 0 to 1, that an item that was asked is still known."""
        return float(_FSRS.get_card_retrievability(self._cards[item], now.astimezone(UTC)))

    def due(self, now: datetime) -> list[str]:
        """Items due on the day of `now` in its time zone, what has been due longest first.

        What is weak waits a day and what is strong a month, so the weak is due sooner; and however much is due, nothing
        waits longer than it takes to ask what was due before it.
        """
        due = [item for item, card in self._cards.items() if _is_due(card, now)]
        return sorted(due, key=lambda item: (self._cards[item].due, item))

    def next_due(self, now: datetime) -> datetime | None:
        """When the first item is due that is not due today, UTC; None: there is none."""
        return min((card.due for card in self._cards.values() if not _is_due(card, now)), default=None)

    def day(self, items: Sequence[Item], fresh: Sequence[Item], now: datetime, count: int) -> Day:
        """At most `count` items for a day: those of `items` that are due, and of `fresh` some that were never asked.

        New ones take what room is left, or one place in `NEW_SHARE`; a second question about a point comes after all
        other points, and two of one question are enough for a day. What was asked once and is no longer among
        `items` does not come back.
        """
        known = {item.key: item for item in items}
        found = [known[key] for key in self.due(now) if key in known]
        due = [item for item in found if item.alone]
        never = _one_a_point(in_order(fresh), {item.subject for item in items if item.key in self})
        never = [item for item in never if item.key not in self and item.alone]
        new = _spread(never)[: max(count - len(due), count // NEW_SHARE)]
        again = due[: count - len(new)]
        return Day(again, new, len(due) - len(again), [item for item in found if not item.alone])


def _one_a_point(items: Iterable[Item], asked: Set[tuple[str, str]]) -> list[Item]:
    """The items in their order, but those about a point that was asked, or that comes before, after all others."""
    first: list[Item] = []
    again: list[Item] = []
    seen = set(asked)
    for item in items:
        (again if item.subject in seen else first).append(item)
        seen.add(item.subject)
    return first + again


def _spread(items: Iterable[Item]) -> list[Item]:
    """The items in their order, but of each question only so many as a day takes before those of others."""
    counts: Counter[str] = Counter()
    first: list[Item] = []
    later: list[Item] = []
    for item in items:
        (first if counts[item.name] < NEW_A_QUESTION else later).append(item)
        counts[item.name] += 1
    return first + later


def _is_due(card: Card, now: datetime) -> bool:
    return card.due.astimezone(now.tzinfo).date() <= now.date()
