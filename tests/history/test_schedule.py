"""What is due when: items are introduced in the order to learn them in, and come back by how they were answered."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from statistics import fmean

import pytest

from grader.history.items import Item, in_order, up_to
from grader.history.outcomes import LEVELS, Level, Outcome
from grader.history.schedule import LONGEST_DAYS, Day, Schedule

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def item(key: str, level: Level = "mid", builds_on: tuple[str, ...] = ()) -> Item:
    return Item(key, "a title", f"the point of {key}", level, ("gemm",), builds_on, "quiz")


def outcome(key: str, share: float, when: datetime = NOON) -> Outcome:
    return Outcome(key, when, share, None, "mid", ("gemm",), "quiz", 20.0, when.isoformat())


def keys(items: list[Item]) -> list[str]:
    return [each.key for each in items]


# ---- the order to learn in ---------------------------------------------------------------------------------


def test_new_items_come_by_level_and_after_what_they_build_on() -> None:
    items = [
        item("warps/a", "senior"),
        item("roofline/a", "mid", ("ratio", "what-is-nowhere")),
        item("ratio/a", "staff", ("threads",)),  # above roofline's level, and still before it
        item("threads/b", "junior"),
        item("threads/a", "junior"),
        item("banks/a", "mid"),
    ]
    expected = ["threads/b", "threads/a", "banks/a", "ratio/a", "roofline/a", "warps/a"]
    assert keys(in_order(items)) == expected
    assert keys(Schedule([]).day(items, items, NOON, 4).new) == expected[:4]


def test_questions_that_build_on_each_other_are_asked_all_the_same() -> None:
    assert keys(in_order([item("a/x", builds_on=("b",)), item("b/x", builds_on=("a",))])) == ["b/x", "a/x"]


def test_items_up_to_a_level() -> None:
    items = [item(f"{level}/a", level) for level in LEVELS]
    assert keys(up_to("mid", items)) == ["junior/a", "mid/a"]


def test_a_second_question_about_a_point_comes_after_all_other_points() -> None:
    items = [item("banks/a"), replace(item("banks/b"), point="the point of banks/a"), item("warps/a")]
    assert keys(Schedule([]).day(items, items, NOON, 5).new) == ["banks/a", "warps/a", "banks/b"]
    asked = Schedule([outcome("banks/b", 1)])
    assert keys(asked.day(items, items, NOON, 5).new) == ["warps/a", "banks/a"]


# ---- one item ----------------------------------------------------------------------------------------------


def test_an_item_waits_the_longer_the_better_it_was_answered() -> None:
    schedule = Schedule([outcome("wrong/a", 0), outcome("helped/a", 0.5), outcome("right/a", 1)])
    waits = [schedule.when(f"{name}/a") - NOON for name in ("wrong", "helped", "right")]
    assert waits == [DAY, DAY, 2 * DAY]
    recalls = [schedule.recall(f"{name}/a", NOON + 2 * DAY) for name in ("wrong", "helped", "right")]
    assert recalls == sorted(recalls)
    assert recalls[0] < recalls[1] < recalls[2]


def test_right_answers_stretch_the_time_and_a_wrong_one_cuts_it() -> None:
    found: list[Outcome] = []
    waits = []
    now = NOON
    for share in (1, 1, 1, 1, 0, 1):
        found.append(outcome("banks/a", share, now))
        due = Schedule(found).when("banks/a")
        waits.append(due - now)
        now = due
    assert all(first < second for first, second in pairwise(waits[:4]))
    assert waits[4] < waits[1]
    assert waits[5] > waits[4]


def test_no_item_waits_longer_than_a_season() -> None:
    found, now = [], NOON
    for _ in range(12):
        found.append(outcome("banks/a", 1, now))
        now = Schedule(found).when("banks/a")
    assert now - found[-1].when == LONGEST_DAYS * DAY


def test_what_was_guessed_wrong_is_as_forgotten_as_no_answer() -> None:
    assert Schedule([outcome("a/a", -0.33)]).when("a/a") == Schedule([outcome("a/a", 0)]).when("a/a")


# ---- a day -------------------------------------------------------------------------------------------------


def test_due_is_by_the_day_of_whoever_learns_not_by_the_hour() -> None:
    """Asked at 12:00 UTC, due a day later at 12:00: that day counts from its first minute on, where the learner is."""
    schedule = Schedule([outcome("banks/a", 0)])
    early = datetime(2026, 11, 3, 0, 5, tzinfo=UTC)
    assert schedule.due(early) == ["banks/a"]
    assert schedule.due(early - timedelta(minutes=10)) == []
    west = timezone(timedelta(hours=-10))  # there it is still the 2nd
    assert schedule.due(early.astimezone(west)) == []


def test_what_has_been_due_longest_comes_first() -> None:
    schedule = Schedule([outcome("strong/a", 1), outcome("weak/a", 0), outcome("weak/b", 0, NOON + DAY)])
    assert schedule.due(NOON + 3 * DAY) == ["weak/a", "strong/a", "weak/b"]


def test_new_items_fill_the_day_and_keep_a_part_of_a_full_one() -> None:
    items = [item(f"q{number:02}/a") for number in range(20)]
    schedule = Schedule([outcome(each.key, 0) for each in items[:10]])
    roomy = schedule.day(items, items, NOON + DAY, 12)
    assert (len(roomy.again), len(roomy.new), roomy.waiting) == (9, 3, 1)
    assert [
        len(schedule.day(items, items, NOON + DAY, 20).again),
        len(schedule.day(items, items, NOON, 5).new),
    ] == [10, 5]
    full = schedule.day(items, items, NOON + DAY, 8)
    assert (len(full.again), keys(full.new), full.waiting) == (6, ["q10/a", "q11/a"], 4)


def test_what_is_asked_with_its_drill_alone_is_named_and_takes_no_room() -> None:
    drill = replace(item("estimate/kv-cache/bytes"), alone=False, format="estimate")
    question = item("banks/a")
    schedule = Schedule([outcome(drill.key, 0), outcome(question.key, 0)])
    assert schedule.day([drill, question], [drill], NOON + DAY, 5) == Day([question], [], 0, [drill])
    assert drill.command == "ladder estimate kv-cache"


def test_only_some_items_are_introduced() -> None:
    """Those of an interview come back and do not come first: they would give it away."""
    question, interview = item("banks/a"), item("transpose/a")
    both = [question, interview]
    assert keys(Schedule([]).day(both, [question], NOON, 5).new) == ["banks/a"]
    asked = Schedule([outcome("transpose/a", 0)])
    assert keys(asked.day(both, [question], NOON + DAY, 5).again) == ["transpose/a"]


def test_what_is_no_longer_there_is_not_asked() -> None:
    assert Schedule([outcome("gone/a", 0)]).day([], [], NOON + DAY, 5) == Day([], [], 0, [])


# ---- sixty days --------------------------------------------------------------------------------------------

KNOWN = {"weak": 0.25, "middling": 0.7, "strong": 0.97}
"""The probability of a right answer, which practice does not change: the hardest learner to serve fairly."""


def simulate(
    items: list[Item], known: dict[str, float], count: int, days: int, learning: float = 0.0
) -> dict[str, list[int]]:
    """The days on which each item was asked, by a learner who is right about it with `known`'s probability.

    Each time it is asked closes the part `learning` of what is missing to 1.
    """
    draw = random.Random(13)
    known = dict(known)
    outcomes: list[Outcome] = []
    asked: dict[str, list[int]] = {each.key: [] for each in items}
    for number in range(days):
        now = NOON + number * DAY + timedelta(minutes=draw.randrange(-300, 300))
        for each in Schedule(outcomes).day(items, items, now, count).items:
            asked[each.key].append(number)
            outcomes.append(outcome(each.key, float(draw.random() < known[each.key]), now))
            known[each.key] += learning * (1 - known[each.key])
    return asked


def gaps(asked: dict[str, list[int]], kind: str) -> list[int]:
    """Days between one time that an item of a kind was asked and the next."""
    return [second - first for key, days in asked.items() if kind in key for first, second in pairwise(days)]


@pytest.fixture(scope="module")
def sixty_days() -> dict[str, list[int]]:
    """Sixty items, twenty of a kind, for sixty days, twenty a day."""
    items = [item(f"q{number:02}/{kind}") for number in range(20) for kind in KNOWN]
    known = {each.key: KNOWN[each.key.partition("/")[2]] for each in items}
    return simulate(items, known, count=20, days=60)


def test_weak_items_are_seen_sooner_and_more_often(sixty_days: dict[str, list[int]]) -> None:
    sooner = [fmean(gaps(sixty_days, kind)) for kind in ("weak", "middling", "strong")]
    assert sooner[0] * 2 < sooner[2]
    assert sooner == sorted(sooner)
    often = [
        fmean(len(days) for key, days in sixty_days.items() if kind in key)
        for kind in ("weak", "middling", "strong")
    ]
    assert often[0] > 2 * often[2]
    assert often == sorted(often, reverse=True)


def test_each_weak_item_comes_back_sooner_than_the_strong_do(sixty_days: dict[str, list[int]]) -> None:
    strong = fmean(gaps(sixty_days, "strong"))
    for key, days in sixty_days.items():
        if "weak" in key:
            assert fmean(second - first for first, second in pairwise(days)) < strong, key


def test_nothing_is_starved(sixty_days: dict[str, list[int]]) -> None:
    """Everything has been introduced within days, and a strong item still comes back."""
    assert all(days and days[0] < 14 for days in sixty_days.values())
    assert all(len(days) >= 3 for days in sixty_days.values())
    assert max(gaps(sixty_days, "strong")) < 45


def test_nothing_is_starved_by_far_too_much_to_do() -> None:
    """A hundred items, hardly one known, and five a day, of which one is new."""
    items = [item(f"q{number:02}/a") for number in range(100)]
    draw = random.Random(13)
    outcomes: list[Outcome] = []
    for number in range(150):
        now = NOON + number * DAY
        schedule = Schedule(outcomes)
        for each in schedule.day(items, items, now, 5).items:
            if each.key in schedule:  # four a day get through all that were due before in 25 days
                assert now - schedule.when(each.key) <= 25 * DAY
            outcomes.append(outcome(each.key, float(draw.random() < 0.1), now))
    assert {found.item for found in outcomes} == {each.key for each in items}
    assert all(NOON + 150 * DAY - Schedule(outcomes).when(each.key) <= 25 * DAY for each in items)


def test_a_strong_item_among_many_weak_ones_comes_back() -> None:
    weak = [item(f"q{number:02}/weak") for number in range(30)]
    items = [item("a/strong"), *weak]
    known = {"a/strong": 1.0} | {each.key: 0.0 for each in weak}
    assert len(simulate(items, known, count=6, days=60)["a/strong"]) >= 3


def test_who_learns_is_asked_less_and_less() -> None:
    items = [item(f"q{number:02}/a") for number in range(40)]
    asked = simulate(items, {each.key: 0.2 for each in items}, count=40, days=60, learning=0.4)
    by_day = [sum(number in days for days in asked.values()) for number in range(60)]
    assert sum(by_day[40:]) * 4 < sum(by_day[:20])


def test_a_day_that_was_missed_makes_up_for_nothing_but_what_is_due() -> None:
    found = [outcome("a/a", 0), outcome("b/a", 1)]
    both = [item("a/a"), item("b/a")]
    assert keys(Schedule(found).day(both, both, NOON + 30 * DAY, 10).again) == ["a/a", "b/a"]
    again = [*found, replace(outcome("a/a", 1, NOON + 30 * DAY), session="later")]
    assert keys(Schedule(again).day(both, both, NOON + 30 * DAY, 10).again) == ["b/a"]
