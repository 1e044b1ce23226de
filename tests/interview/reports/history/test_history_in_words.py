"""A learner's history in a terminal of 80 columns."""

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from made_up_history import CURES, ITEMS, NOW, outcomes, standing
from rich.console import RenderableType

from grader.history.outcomes import Sitting
from grader.history.progress import Skill, Week, progress
from grader.history.schedule import Day, Schedule
from grader.interview.reports.history import console, words
from grader.report.terminal import terminal


def shown(view: RenderableType) -> str:
    """What a terminal of 80 columns shows, which fits."""
    stream = io.StringIO()
    terminal(file=stream, width=80).print(view)
    text = stream.getvalue()
    assert all(len(line) <= 80 for line in text.splitlines())
    return "\n".join(line.rstrip() for line in text.splitlines())


def week(share: float | None) -> Week:
    return Week(NOW.date(), share, 0)


def skill(*shares: float | None) -> Skill:
    return Skill("gemm", shares[-1], None, 1, 1, 0, tuple(map(week, shares)))


def test_everything_fits_and_is_there() -> None:
    text = shown(console.progress(standing(), CURES))
    assert "12 weeks" in text
    for name in ("transpose", "no ladder", "staff", "review", "Weakest points"):
        assert name in text
    assert "→ kernels/optimized/transpose/03_padded_tile.cu" in text
    assert "→ notebooks/thread_and_memory_hierarchy.ipynb: Memories, from near to far" in text
    assert "→ ladder quiz question-" in shown(console.progress(standing(), {}))  # taught nowhere: asked again
    later = progress(outcomes(), ITEMS, NOW + timedelta(days=60))
    assert text.endswith(("ladder today", "What is next: ladder next"))
    assert "items due: ladder today" in shown(console.progress(later, CURES))


def test_a_bar_for_each_week() -> None:
    assert console.spark(skill(None, 0.0, 0.5, 1.0)) == "·▁▅█"


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ((None,), ""),
        ((None, 0.5), ""),
        ((0.5, 0.75), "+25"),
        ((0.5, 0.5), "0"),
        ((0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3), "+20"),  # 4 weeks ago, not 6
    ],
)
def test_change_is_against_four_weeks_ago(shares: tuple[float | None, ...], expected: str) -> None:
    assert words.change(skill(*shares)) == expected


def test_before_the_first_answer_it_says_where_to_begin() -> None:
    assert "ladder today" in shown(console.progress(progress([], ITEMS, NOW), {}))


def test_a_day_and_what_other_commands_ask() -> None:
    schedule = Schedule(outcomes())
    day = schedule.day(ITEMS, ITEMS, NOW, 4)
    assert "due" in shown(console.today(day, NOW, None))
    listed = shown(console.items(day))
    assert all(item.key in listed for item in day.items)
    drills = [replace(ITEMS[0], key=f"estimate/a-sum/{n}", format="estimate", alone=False) for n in (1, 2)]
    assert shown(console.elsewhere(Day([], [], 0, drills))) == "Due as well:\n  ladder estimate a-sum"
    several = [replace(each, key=f"estimate/sum-{n}/a") for n, each in enumerate(4 * drills)]
    assert shown(console.elsewhere(Day([], [], 0, several))).endswith(
        "\n  ladder estimate sum-2\n  and 5 more"
    )


def test_nothing_due_says_when_something_is() -> None:
    """On the learner's day: in UTC it is still the day before."""
    there = timezone(timedelta(hours=9))
    due = datetime(2026, 11, 24, 20, tzinfo=UTC)
    text = shown(console.today(Day([], [], 0, []), NOW.astimezone(there), due))
    assert text == "Nothing is due today. The next is due on 25 Nov 2026. What is next: ladder next"


def test_a_session_beside_the_one_before() -> None:
    before = Sitting("a", "quiz", "banks", datetime(2026, 11, 2, 12, tzinfo=UTC), 60.0, 0.4, None)
    text = shown(console.last_time(replace(before, share=0.75), before))
    assert text == "Last time, on 2 Nov 2026: 40 % of what was asked; today 75 %."


@pytest.mark.parametrize(("seconds", "expected"), [(5, "1 min"), (2400, "40 min"), (12600, "3.5 h")])
def test_how_long(seconds: float, expected: str) -> None:
    assert words.hours(seconds) == expected
