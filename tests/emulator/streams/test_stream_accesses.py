"""Bytes that two accesses have in common, and which accesses need an order."""

from __future__ import annotations

import random

import numpy as np
import pytest

from grader.emulator.streams.accesses import Access, Accesses, Bytes


def drawn(rng: random.Random, grain: int = 1) -> tuple[Bytes, set[int]]:
    """Some bytes of 64, and which they are."""
    chosen = sorted(rng.sample(range(64 // grain + 1), 2 * rng.randint(1, 6)))
    parts = np.array(chosen, np.int64).reshape(-1, 2) * grain
    return Bytes.of(parts, grain), {byte for first, last in parts for byte in range(first, last)}


def test_common_bytes_are_those_of_both_sets() -> None:
    rng = random.Random(5)
    for _ in range(300):
        (one, mine), (other, theirs) = drawn(rng), drawn(rng)
        both = mine & theirs
        found = one.common(other)
        assert (found is None) == (not both)
        if found:
            assert (found.first, found.last, found.nbytes) == (min(both), max(both) + 1, len(both))
        assert one.covers(other) == (mine >= theirs)


def test_of_a_word_in_which_some_byte_is_read_a_write_has_to_cover_all() -> None:
    rng = random.Random(6)
    for _ in range(300):
        (read, words), (write, stored) = drawn(rng, 4), drawn(rng)
        both = {word for word in range(0, 64, 4) if word in words and set(range(word, word + 4)) <= stored}
        for found in (read.common(write), write.common(read)):
            assert (found is None) == (not both)
            if found:
                assert (found.first, found.last, found.nbytes) == (min(both), max(both) + 4, 4 * len(both))
        assert not read.covers(write)


ALL = Bytes(0, 64)


def access(
    thread: int, number: int, *, writes: bool, atomic: bool = False, where: Bytes = ALL
) -> Access[int, str]:
    return Access(where, writes, thread, number, f"{thread}.{number}", atomic)


@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [
        ({"writes": True}, {"writes": False}, True),
        ({"writes": False}, {"writes": True}, True),
        ({"writes": False}, {"writes": False}, False),
        ({"writes": True, "atomic": True}, {"writes": True, "atomic": True}, False),
        ({"writes": True, "atomic": True}, {"writes": False, "atomic": True}, False),
        ({"writes": True, "atomic": True}, {"writes": False}, True),
        ({"writes": True, "atomic": True}, {"writes": True}, True),
    ],
)
def test_two_accesses_need_an_order_if_one_writes_and_not_both_are_atomic(
    first: dict[str, bool], second: dict[str, bool], meet: bool
) -> None:
    for known, found in (({2: 1}, meet), ({1: 1, 2: 1}, False)):
        accesses: Accesses[int, str] = Accesses(9)
        assert accesses.add(access(1, 1, **first), {1: 1}) is None
        assert (accesses.add(access(2, 1, **second), known) is not None) == found


def test_an_access_that_another_replaces_is_forgotten_and_no_other() -> None:
    for first, second, third in (
        ({"writes": True}, {"writes": False}, {"writes": False}),
        ({"writes": True}, {"writes": True, "atomic": True}, {"writes": True, "atomic": True}),
        ({"writes": True}, {"writes": True, "where": Bytes(0, 60)}, {"writes": True, "where": Bytes(60, 64)}),
    ):
        accesses: Accesses[int, str] = Accesses(9)
        accesses.add(access(1, 1, **first), {1: 1})
        accesses.add(access(1, 2, **second), {1: 2})
        met = accesses.add(access(2, 1, **third), {2: 1})
        assert met is not None
        assert met[0].deed == "1.1"
    accesses = Accesses(9)
    for number in (1, 2, 3):
        accesses.add(access(1, number, writes=number != 2), {1: number})
    met = accesses.add(access(2, 1, writes=True), {2: 1})
    assert met is not None
    assert met[0].deed == "1.3"


def test_what_the_host_has_waited_for_is_met_by_nothing_more() -> None:
    accesses: Accesses[int, str] = Accesses(9)
    accesses.add(access(1, 1, writes=True), {1: 1})
    accesses.add(access(2, 1, writes=True, where=Bytes(64, 65)), {2: 1}, {1: 1})
    assert accesses.add(access(3, 1, writes=True), {3: 1}) is None


def test_so_many_accesses_are_kept() -> None:
    for most, meets in ((1, False), (2, True)):
        accesses: Accesses[int, str] = Accesses(most)
        accesses.add(access(1, 1, writes=True), {1: 1})
        accesses.add(access(1, 2, writes=True, where=Bytes(64, 65)), {1: 2})
        assert (accesses.add(access(2, 1, writes=True), {2: 1}) is not None) == meets
