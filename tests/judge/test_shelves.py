"""The shelves of tests/submissions: right ones pass, wrong ones do not, and cheats earn no more than they deserve.

A file is tested because it lies on a shelf; `benchmarks/corpus.py` says what its head may say. `make test` grades a
few, `make soak` all.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import corpus
import pytest
from marking import Marking
from tiers import sample

from grader.areas import JUDGE
from grader.judge.clean import Clean
from grader.workbook import topics

ENTRIES = list(corpus.entries())
BY_NAME = {entry.name: entry for entry in ENTRIES}
TOPICS = topics.discover()
FEW = (
    "transpose/right/by_shuffles.cu",
    "transpose/wrong/loses_nan.cu",
    "transpose/cheats/half_of_the_main_size.cu",
)
"""One of each shelf, which `make test` grades."""


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


def test_a_file_says_what_is_expected() -> None:
    without_idea = [
        entry.name for entry in ENTRIES if not entry.path.read_text("utf-8").startswith(("// ", '"""'))
    ]
    assert not without_idea, "it opens with the idea"
    deserve = {entry.name: entry.notes.get("deserves") for entry in ENTRIES if entry.shelf == "cheats"}
    assert [name for name, rung in deserve.items() if rung is None] == []
    assert [
        f"{entry.name} deserves {entry.notes['deserves']}, which is no rung"
        for entry in ENTRIES
        if "deserves" in entry.notes
        if entry.notes["deserves"] not in (*TOPICS[entry.topic].ladder.ids, corpus.NOTHING)
    ] == []


@pytest.mark.parametrize("name", sample(BY_NAME, FEW, "judge"))
def test_a_file_gets_what_its_shelf_says(name: str, marked: Marking) -> None:
    """What was as expected is kept, and not graded again while neither the judge nor the topic changes."""
    entry = BY_NAME[name]
    topic = TOPICS[entry.topic]
    result = Clean().grade(
        "submission",
        JUDGE,
        (*topic.graded_by, entry.path),
        partial(marked, topic, entry.path),
        lambda found: not corpus.off(entry, found, topic),
    )
    assert corpus.off(entry, result, topic) == ""


def test_a_file_that_is_off_is_seen(marked: Marking) -> None:
    """The naive product earns ten points: on the wrong shelf it is too good, and a cheat may not earn them."""
    topic = TOPICS["transpose"]
    result = marked(topic, topic.rungs[0].path)
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
