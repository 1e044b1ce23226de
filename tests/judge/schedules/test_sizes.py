"""Sizes at which a schedule may do otherwise than in its topic's cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from marking import Marking

from grader.emulator.streams.commands import Buffer, Copy, Place, Recording
from grader.judge.schedules.sizes import MOST, compared, further, numbers
from grader.workbook import topics
from grader.workbook.expressions import Number
from grader.workbook.topic import ScheduleTopic

SUBMISSIONS = Path(__file__).parents[2] / "submissions"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("if N >= 48: ...", {48}),
        ("LOG = 20\nCHUNK = 1 << LOG\nclass A:\n    B = CHUNK + 4", {4, 20, 1 << 20, (1 << 20) + 4}),
        ("x = int(1e6) if N % 2.5 else True", {1_000_000}),
        ("x = 9 ** 9 ** 9, 3 << 99, 7 // 0, 1 << -1", {3, 7, 9, 99, 9**9}),
        ("x = f(-5, 1, 0, 'a')", {5}),
    ],
)
def test_the_numbers_of_a_text(text: str, found: set[int]) -> None:
    assert numbers(text) == found


def tried(name: str, source: str, nbytes: int) -> list[tuple[Number, ...]]:
    """The sizes for a schedule of this text that copies once."""
    topic = topics.load(name)
    assert isinstance(topic, ScheduleTopic)
    copied = Copy(Place(1, 0), Place(0, 0), nbytes, 1, False)
    recording = Recording(
        (Buffer("pinned", nbytes), Buffer("device", nbytes)), (True, False), 0, (), (copied,)
    )
    return [tuple(problem.values()) for problem in further(topic, source, recording)]


def test_sizes_around_a_number_come_with_even_and_odd_others() -> None:
    found = tried("transfer", "x = 48", 400)
    assert {pair for pair in found if pair[0] not in (33, 34)} == {
        (n, t) for n in (47, 48, 49) for t in (2, 3)
    }
    assert {pair for pair in found if pair[0] in (33, 34)} == {(n, t) for t in (47, 48, 49) for n in (33, 34)}


def test_sizes_are_on_both_sides_of_what_they_are_compared_with_at_once() -> None:
    assert compared("T = 20\nif self.N >= 48 and 2 * T <= T < n: ...", ["N", "T"]) == {
        "N": {48},
        "T": {20, 40},
    }
    found = tried("transfer", "if N >= 48 and T >= 20: ...", 400)
    beside = {(n, t) for n in (46, 47, 49, 50) for t in (18, 19, 21, 22)}
    assert beside <= {*found}
    assert len({*found}) == len(found) <= MOST
    chunked = tried("streams", "if R < 64: ...", 4000)
    assert {(2001, r) for r in (62, 63, 65, 66)} <= {*chunked}


def test_a_size_that_no_array_has_may_be_larger_than_in_all_cases() -> None:
    found = tried("streams", "LONG = 4096\nif self.R > LONG: ...", 400)
    assert {(4096, r) for r in (4094, 4095, 4097, 4098)} <= {*found}
    assert not [r for _, r in tried("streams", "if R > 1000000: ...", 400) if r > 4]


def test_a_number_beyond_all_sizes_is_left_out_and_many_are_not_all_tried() -> None:
    assert not tried("transfer", "x = 1073741824", 400)
    assert len(tried("transfer", f"x = {[*range(2, 90)]}", 400)) == MOST


def test_few_chunks_are_tried_whole_and_with_one_element_more() -> None:
    assert tried("streams", "", 4000) == [(k * 1000 + more, 3) for k in range(1, 10) for more in (0, 1)]


@pytest.mark.parametrize(
    ("name", "where"),
    [("small_tail_joins_the_last_chunk", "N=4194305, R="), ("long_rounds_in_two_halves", "N=4096, R=4097")],
)
def test_a_schedule_that_is_wrong_beyond_a_number_of_its_text_is_refused(
    name: str, where: str, marked: Marking
) -> None:
    found = marked(topics.load("streams"), SUBMISSIONS / f"streams/wrong/{name}.py")
    assert f"Where {where}" in str(found.reason)
