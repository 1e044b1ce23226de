"""Seeds that draw what was not asked within the last day, so that no figure comes twice where there are others."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from grader.errors import WarpladderError
from grader.history.store import Store
from grader.interview.bank import Question
from grader.interview.drills.drill import Drill
from grader.interview.session import SEEDS
from grader.interview.talks import drawn_probe

TRIES = 50
"""So many seeds are looked at."""


def fresh_seed(drawn: Callable[[int], Iterable[str]]) -> int:
    """A seed, of some, by which the fewest items are drawn that were asked within a day."""
    asked = _asked_lately()
    seeds = [secrets.randbelow(SEEDS) for _ in range(TRIES if asked else 1)]
    return min(seeds, key=lambda seed: sum(item in asked for item in drawn(seed)))


def items_of_quiz(questions: Iterable[Question], seed: int) -> Iterator[str]:
    """The items that a quiz asks."""
    for question in questions:
        for number, point in enumerate(question.points):
            yield f"{question.name}/{drawn_probe(point, f'{seed} {question.name}.{number}').name}"


def items_of_drills(form: str, drills: Iterable[Drill]) -> Iterator[str]:
    """The items that drills of a format ask."""
    for drill in drills:
        for step in drill.steps:
            yield f"{form}/{drill.name}/{step.probe.name}"


def items_of_part(
    form: str,
    names: Sequence[str],
    seed: int,
    questions: Mapping[str, Question],
    drills: Mapping[str, Mapping[str, Drill]],
) -> Iterator[str]:
    """The items that a part of a day asks; those of a coding round are its topic's, and not counted."""
    if form == "quiz":
        yield from items_of_quiz((questions[name] for name in names), seed)
    elif form in drills:
        yield from items_of_drills(form, (drills[form][name] for name in names))


def _asked_lately() -> set[str]:
    """Items that were asked within a day; none where the history cannot be read."""
    since = datetime.now(UTC) - timedelta(days=1)
    with suppress(WarpladderError), Store() as store:
        return {outcome.item for outcome in store.outcomes() if outcome.when >= since}
    return set()
