"""The shelves of tests/submissions: right ones pass, wrong ones do not, and cheats earn no more than they deserve.

A file is tested because it lies on a shelf; `benchmarks/corpus.py` says what its head may say. `make test` grades a
selection, `make verify` another, and the marker `corpus` has the rest.
"""

from __future__ import annotations

import zlib
from dataclasses import replace

import corpus
import pytest

from grader.judge.grade import grade
from grader.workbook import topics

ENTRIES = list(corpus.entries())
TOPICS = topics.discover()
PARTS = 48
IN_TEST = {11}
"""Of these parts, which `make test` grades."""
IN_VERIFY = {3, 43}


def _marks(name: str) -> list[pytest.MarkDecorator]:
    part = zlib.crc32(name.encode()) % PARTS
    if part in IN_TEST:
        return []
    return [pytest.mark.verify if part in IN_VERIFY else pytest.mark.corpus]


def test_every_topic_has_every_shelf() -> None:
    assert {(entry.topic, entry.shelf) for entry in ENTRIES} == {
        (topic, shelf) for topic in TOPICS for shelf in corpus.SHELVES
    }


def test_there_are_as_many_as_were_promised() -> None:
    count = {shelf: sum(entry.shelf == shelf for entry in ENTRIES) for shelf in corpus.SHELVES}
    with_reasons = sum(path.suffix in (".cu", ".py") for path in corpus.FOLDER.glob("*/*.*"))
    assert count["right"] >= 80
    assert count["wrong"] + with_reasons >= 120
    assert count["cheats"] >= 80


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_file_says_what_is_expected(entry: corpus.Entry) -> None:
    text = entry.path.read_text("utf-8")
    assert text.startswith(("// ", '"""')), "it opens with the idea"
    if entry.shelf == "cheats":
        assert "deserves" in entry.notes
    if "deserves" in entry.notes:
        assert entry.notes["deserves"] in (*TOPICS[entry.topic].ladder.ids, corpus.NOTHING)


@pytest.mark.parametrize(
    "entry",
    [pytest.param(entry, id=entry.name, marks=_marks(entry.name)) for entry in ENTRIES],
)
def test_a_file_gets_what_its_shelf_says(entry: corpus.Entry) -> None:
    assert not corpus.graded(entry).off


def test_a_file_that_is_off_is_seen() -> None:
    """The naive product earns ten points: on the wrong shelf it is too good, and a cheat may not earn them."""
    topic = TOPICS["transpose"]
    result = grade(topic, topic.rungs[0].path, "emulator")
    wrong, cheat, right = (
        next(corpus.entries(name=f"transpose/{name}"))
        for name in ("wrong/loses_nan", "cheats/half_of_the_main_size", "right/by_shuffles")
    )
    assert corpus.off(wrong, result, topic) == "a wrong one passes"
    assert corpus.off(cheat, result, topic) == "reaches 00_naive with 10 points, deserves nothing"
    assert not corpus.off(right, result, topic)
    naive, second, *_ = corpus.entries([corpus.RUNGS], topic="transpose")
    assert not corpus.off(naive, result, topic)
    error = replace(result, verdict="error", rung_reached=None, points=0, reason="it does not compile")
    assert corpus.off(wrong, error, topic) == "it is not judged at all: it does not compile"
    assert corpus.off(cheat, error, topic) == "it is not judged at all: it does not compile"
    assert corpus.off(second, result, topic).startswith("a rung reaches 00_naive")
