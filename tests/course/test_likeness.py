"""Sources compared: what the copy column of `ladder course mark` sees, and `ladder course similar`."""

from __future__ import annotations

import re
import time

import pytest

from grader.course.likeness import tokens
from grader.workbook import topics

TOPICS = topics.discover()
TRANSPOSE = TOPICS["transpose"]
NAIVE = TRANSPOSE.rung("00_naive").source
PADDED = TRANSPOSE.rung("03_padded_tile").source


def renamed(source: str, **names: str) -> str:
    """A source with other names."""
    for old, new in names.items():
        source = re.sub(rf"\b{old}\b", new, source)
    return source


# ---- the same source again ---------------------------------------------------------------------------------


def test_names_comments_and_spaces_do_not_make_another_source() -> None:
    again = renamed(NAIVE, M="rows", N="columns", row="i", out="answer")
    again = "// mine, all mine\n" + again.replace("    ", "\t").replace("{", "{ /* here */")
    assert again != NAIVE
    found = tokens.fingerprint(TRANSPOSE, again)
    assert found == tokens.fingerprint(TRANSPOSE, NAIVE)
    assert dict(tokens.of_ladder(TRANSPOSE))[found] == "the ladder's 00_naive"


@pytest.mark.parametrize(
    ("old", "new"),
    [("threadIdx.x", "threadIdx.y"), ("+ 1]", "+ 2]"), ("float", "double"), ("in[", "out["), ("<", "<=")],
)
def test_another_program_is_another_source(old: str, new: str) -> None:
    other = new.join(PADDED.rsplit(old, 1))
    assert other != PADDED
    assert tokens.fingerprint(TRANSPOSE, other) != tokens.fingerprint(TRANSPOSE, PADDED)


def test_two_names_that_are_exchanged_in_one_place_are_another_source() -> None:
    assert tokens.fingerprint(TRANSPOSE, "a = b; a = c") != tokens.fingerprint(TRANSPOSE, "a = b; b = c")
    assert tokens.fingerprint(TRANSPOSE, "a = b; a = c") == tokens.fingerprint(TRANSPOSE, "u = v; u = w")


@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)
def test_no_two_rungs_are_the_same_source(topic: topics.Topic) -> None:
    named = list(tokens.of_ladder(topic))
    assert len(dict(named)) == len(named)


@pytest.mark.parametrize("suffix", [".cu", ".py"])
@pytest.mark.parametrize(
    "text",
    ["#/*" * 200_000, "#" + " " * 500_000, '"' * 500_000, '"""' * 200_000, "'" + '\\"' * 200_000, "a" * 500_000,
     "." * 500_000, "-> " * 200_000, "1e+" * 200_000, "\\\n" * 200_000, "\ud800" * 1000],
    ids=lambda text: repr(text[:6]),
)  # fmt: skip
def test_long_texts_are_read_at_once(suffix: str, text: str) -> None:
    begun = time.monotonic()
    topic = TRANSPOSE if suffix == ".cu" else TOPICS["streams"]
    tokens.fingerprint(topic, text)
    assert time.monotonic() - begun < 10.0
