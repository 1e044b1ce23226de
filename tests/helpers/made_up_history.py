"""A learner's history that nobody had: nine weeks of a few answers a day."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone

from grader.history.items import Item
from grader.history.outcomes import LEVELS, Outcome
from grader.history.progress import Progress, progress
from grader.history.remedies import Remedy
from grader.history.schedule import Schedule

NOW = datetime(2026, 11, 23, 18, tzinfo=timezone(timedelta(hours=1)))
WEEKS = 9
LADDERS = ("transpose", "gemm", "reduce2d", "histogram")
FORMATS = ("quiz", "interview", "review")
POINT = "Different words of one bank are served one after the other; one word is a `broadcast` to all lanes of a warp."

ITEMS = [
    Item(
        key=f"question-{number}/probe",
        title="A title that is <long> & says a lot",
        point=POINT,
        level=LEVELS[number % len(LEVELS)],
        topics=LADDERS[number % 5 : number % 5 + 2],
        builds_on=(),
        format=FORMATS[number % len(FORMATS)],
    )
    for number in range(30)
]

CURES = {
    item.key: [
        Remedy("kernels/optimized/transpose/03_padded_tile.cu", ""),
        Remedy("notebooks/thread_and_memory_hierarchy.ipynb", "Memories, from near to far"),
    ]
    for item in ITEMS
}


def outcomes() -> list[Outcome]:
    """Of a learner who knows some items from the start, and each a little better whenever it was asked."""
    draw = random.Random(5)
    knows = {item.key: draw.random() * 0.8 for item in ITEMS}
    found: list[Outcome] = []
    for day in range(7 * WEEKS):
        when = NOW - timedelta(days=7 * WEEKS - day)
        for item in Schedule(found).day(ITEMS, ITEMS, when, 6).items:
            share = float(draw.random() < knows[item.key])
            rated = draw.choice((0.5, 1.0)) if item.format != "review" else None
            knows[item.key] += 0.2 * (1 - knows[item.key])
            found.append(
                Outcome(
                    item.key,
                    when.astimezone(UTC),
                    share,
                    rated,
                    item.level,
                    item.topics,
                    item.format,
                    30.0,
                    str(day),
                )
            )
    return found


def standing() -> Progress:
    """The progress that follows from it."""
    return progress(outcomes(), ITEMS, NOW)
