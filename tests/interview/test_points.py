"""What is heard in prose: plain terms, where a word begins, in any case and either language."""

from pathlib import Path

import pytest

from grader.interview.points import Point, heard

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
