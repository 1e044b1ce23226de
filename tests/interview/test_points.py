"""What is heard in prose: plain terms, where a word begins, in any case and either language."""

from pathlib import Path

import pytest

from grader.interview import bank, rounds
from grader.interview.points import Point, heard
from grader.workbook import topics

POINT = Point(
    100,
    "Neighbours are coalesced.",
    ("coalesc", "32-byte sector", "合并访问", "x ^ y", "shared_memory"),
    "How?",
    (),
    1,
)


@pytest.mark.parametrize(
    "text",
    [
        "It is COALESCED.",
        "un-coalesced",  # what is meant, the probe finds out
        "each 32 byte sector",
        "each `32-byte` **sectors**",
        "这是合并访问的",
        "keep it at x^y, that is x ^ y",
        "in shared memory",
    ],
)
def test_terms_are_heard(text: str) -> None:
    assert heard(text, POINT)


@pytest.mark.parametrize("text", ["", "uncoalesced", "sectors of 32 bytes", "memory that is shared", "访问"])
def test_other_words_are_not(text: str) -> None:
    assert not heard(text, POINT)


def test_no_pattern_of_the_file_is_one_to_us(tmp_path: Path) -> None:
    literal = Point(100, "It is.", ("a.c", "(b"), "How?", (), 1)
    assert heard("an a.c, and (b", literal)
    assert not heard("abc", literal)


@pytest.mark.parametrize(
    ("name", "number", "text", "said"),
    [
        ("memory-hierarchy", 1, "Thread-private off-chip space, where the compiler parks values.", True),
        ("memory-hierarchy", 1, "Arrays that are indexed at run time go there.", True),
        ("memory-hierarchy", 3, "A small read-only cache: it can broadcast to all lanes.", True),
        ("memory-hierarchy", 3, "It serves one address to the whole warp at a time.", True),
        ("cpu-pipelines", 2, "A wrong prediction empties the pipeline.", True),
        ("cpu-pipelines", 2, "The CPU predicts branches.", False),
    ],
)
def test_plain_prose_is_heard_and_a_mere_word_is_not(name: str, number: int, text: str, said: bool) -> None:
    assert heard(text, bank.load(name).points[number]) is said


def test_each_side_of_a_transpose_is_heard_where_it_is_said() -> None:
    interview = rounds.read_interview(topics.load("transpose"))
    (_, sides, _), naive = interview.points, interview.rounds[0]
    stores, loads = naive.limits
    assert not heard("A tile in shared memory makes both sides coalesced.", sides)
    assert heard("One side is strided.", sides)
    assert not heard("The stores are fine.", stores)
    assert heard("The lanes of a warp write into a column of `out`.", stores)
    assert not heard("Memory is fine.", loads)
    assert heard("The loads of a warp are coalesced.", loads)
    assert heard("Then the warp's stores are coalesced, along the rows of `out`.", naive.next[0])
