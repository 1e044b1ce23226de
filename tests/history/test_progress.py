"""How a learner stands: by topic, level and format, week by week, with what is weak first."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from grader.history.items import Item
from grader.history.outcomes import Outcome
from grader.history.progress import NO_TOPIC, WEEKS, Progress, Skill, progress, weak_points

MONDAY = datetime(2026, 11, 2, 12, tzinfo=UTC)
WEEK = timedelta(weeks=1)
BANKS = Item("banks/a", "Banks", "Same bank, different words", "mid", ("transpose", "gemm"), (), "quiz")
FP16 = Item("fp16/a", "FP16", "The smallest", "senior", (), (), "quiz")
LATE = Item("late/line", "Late barrier", "The race", "junior", ("transpose",), (), "review")
ITEMS = [BANKS, FP16, LATE]


def outcome(item: Item, share: float, when: datetime = MONDAY, rated: float | None = None) -> Outcome:
    return Outcome(item.key, when, share, rated, item.level, item.topics, item.format, 60.0, when.isoformat())


def skill(found: Progress, name: str) -> Skill:
    return next(
        each for each in (*found.topics, *found.levels, *found.formats, found.whole) if each.name == name
    )


def test_before_the_first_answer_there_is_no_skill() -> None:
    found = progress([], ITEMS, MONDAY)
    assert (found.whole.share, found.whole.rated, found.whole.change) == (None, None, None)
    assert (found.whole.asked, found.whole.items, found.days) == (0, 3, 0)
    assert found.weak == []
    assert progress([], [], MONDAY).whole.items == 0


def test_an_item_counts_in_each_of_its_ladders_and_in_its_level_and_format() -> None:
    found = progress([outcome(BANKS, 1.0), outcome(LATE, 0.0), outcome(FP16, 0.5)], ITEMS, MONDAY)
    assert {each.name: each.share for each in found.topics} == {"gemm": 1, "transpose": 0.5, NO_TOPIC: 0.5}
    assert [(each.name, each.share) for each in found.levels] == [("junior", 0), ("mid", 1), ("senior", 0.5)]
    assert [(each.name, each.share) for each in found.formats] == [("quiz", 0.75), ("review", 0)]
    assert (found.whole.share, found.outcomes, found.seconds) == (0.5, 3, 180)


def test_how_prose_was_rated_is_kept_apart() -> None:
    found = progress([outcome(BANKS, 0.0, rated=1.0), outcome(LATE, 1.0)], ITEMS, MONDAY)
    assert (found.whole.share, found.whole.rated) == (0.5, 1.0)


def test_a_guesser_has_nothing_and_not_less() -> None:
    found = progress([outcome(BANKS, -0.33), outcome(FP16, -0.33)], ITEMS, MONDAY)
    assert found.whole.share == 0


def test_the_trend_is_what_was_known_at_the_end_of_each_week() -> None:
    """An answer stands until the item is asked again, so that a week of weak items alone is no step back."""
    found = progress(
        [
            outcome(BANKS, 0.0),
            outcome(LATE, 1.0, MONDAY + timedelta(days=6)),
            outcome(BANKS, 1.0, MONDAY + 2 * WEEK),
        ],
        ITEMS,
        MONDAY + 3 * WEEK,
    )
    weeks = found.whole.weeks
    assert len(weeks) == WEEKS
    assert [week.monday for week in weeks[-4:]] == [date(2026, 11, 2) + number * WEEK for number in range(4)]
    assert [week.share for week in weeks[-5:]] == [None, 0.5, 0.5, 1.0, 1.0]
    assert [week.asked for week in weeks[-5:]] == [0, 2, 0, 1, 0]
    assert found.whole.change == 0.5


def test_weeks_begin_where_the_learner_is() -> None:
    """Sunday evening in UTC is Monday in Tokyo."""
    sunday = datetime(2026, 11, 8, 22, tzinfo=UTC)
    tokyo = timezone(timedelta(hours=9))
    here = progress([outcome(BANKS, 1.0, sunday)], ITEMS, MONDAY + WEEK)
    there = progress([outcome(BANKS, 1.0, sunday)], ITEMS, (MONDAY + WEEK).astimezone(tokyo))
    assert [week.asked for week in here.whole.weeks[-2:]] == [1, 0]
    assert [week.asked for week in there.whole.weeks[-2:]] == [0, 1]


def test_what_is_older_than_the_trend_still_counts() -> None:
    found = progress([outcome(BANKS, 1.0)], ITEMS, MONDAY + 40 * WEEK)
    assert {week.share for week in found.whole.weeks} == {1.0}
    assert sum(week.asked for week in found.whole.weeks) == 0


def test_items_above_the_level_are_no_gap_until_they_are_asked() -> None:
    assert progress([], ITEMS, MONDAY, "mid").whole.items == 2
    assert progress([outcome(FP16, 1.0)], ITEMS, MONDAY, "mid").whole.items == 3


def test_what_is_due_is_counted() -> None:
    found = progress([outcome(BANKS, 0.0)], ITEMS, MONDAY + timedelta(days=1))
    assert [skill(found, name).due for name in ("transpose", "gemm", NO_TOPIC)] == [1, 1, 0]


def test_what_is_no_longer_there_counts_as_asked_and_is_not_weak() -> None:
    gone = replace(BANKS, key="gone/a")
    found = progress([outcome(gone, 0.0)], ITEMS, MONDAY + timedelta(days=1))
    assert (skill(found, "gemm").asked, skill(found, "gemm").due, found.weak) == (1, 0, [])


def test_two_questions_about_one_point_are_one_weak_point() -> None:
    second = replace(BANKS, key="banks/b")
    outcomes = [outcome(BANKS, 0.0), outcome(second, 0.5, MONDAY + WEEK)]
    (found,) = weak_points(outcomes, [BANKS, second])
    assert (found.item, found.share, found.asked) == (second, 0.25, 2)


@pytest.mark.parametrize(
    ("shares", "weak"),
    [
        ([1.0], False),
        ([0.0], True),
        ([0.0, 1.0], True),  # one lucky guess
        ([0.0, 1.0, 1.0, 1.0], False),
        ([1.0, 1.0, 1.0, 0.0], True),
        ([0.5, 0.5, 0.5], True),  # only ever after help
    ],
)
def test_a_point_is_weak_by_its_latest_answers(shares: list[float], weak: bool) -> None:
    outcomes = [outcome(BANKS, share, MONDAY + number * WEEK) for number, share in enumerate(shares)]
    assert bool(weak_points(outcomes, ITEMS)) is weak


def test_the_weakest_comes_first_and_of_equals_what_was_asked_last() -> None:
    outcomes = [
        outcome(FP16, 0.5),
        outcome(BANKS, 0.0),
        outcome(LATE, 0.0, MONDAY + WEEK),
    ]
    assert [point.item for point in weak_points(outcomes, ITEMS)] == [LATE, BANKS, FP16]
