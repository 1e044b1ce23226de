"""Lessons as the page to learn on shows them."""

from pathlib import Path

import pytest

from grader.errors import WarpladderError
from grader.learn.lesson import excerpt, prose, sections
from grader.workbook import topics

TOPICS = topics.discover()

TOGETHER = {"05_depth_first"}
"""Rungs whose section begins with another's number: “04 and 05: …”."""

SOURCE = """\
import x

def first(a):
    if a:
        return 1

    return 2

def second():
    pass
"""


@pytest.mark.parametrize("name", sorted(TOPICS))
def test_every_lesson_is_shown_with_a_section_for_each_rung(name: str) -> None:
    topic = TOPICS[name]
    found = sections(topic)
    assert {rung.id for rung in topic.rungs} - {section.rung for section in found} <= TOGETHER
    whole = "".join(section.body for section in found)
    assert "{value}" not in whole
    assert "{literalinclude}" not in whole
    assert "{drawn}" not in whole


def test_a_rungs_code_is_folded_and_other_code_is_not() -> None:
    found = {section.title: section for section in sections(TOPICS["vector_add"])}
    naive = found["00: a run of elements for each thread"]
    assert naive.rung == "00_naive"
    assert "<summary>The code of vector_add</summary>" in naive.body
    assert "<details>" not in found["How memory is read"].body
    assert "<summary>At a terminal</summary>" in found["Try it"].body


def test_formulas_links_and_tables() -> None:
    shown = prose(
        "$N / 8$ of [a lesson](../add_bias/lesson.md#x), [the book](../../book/start.md), [the web](https://x.org)"
    )
    assert "<math " in shown
    assert '<a href="/at/add_bias">a lesson</a>' in shown
    assert "<a>the book</a>" in shown
    assert 'target="_blank">the web</a>' in shown
    assert "<script" not in prose("<script>alert(1)</script>")


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"start-at": "def first", "end-at": "return 1"}, "def first(a):\n    if a:\n        return 1\n"),
        (
            {"start-at": "def first", "end-before": "def "},
            SOURCE[SOURCE.index("def first") : SOURCE.index("def sec")],
        ),
        ({"start-at": "return 1", "end-at": "return 1", "dedent": ""}, "return 1\n"),
        ({"lines": "1, 9-10"}, "import x\ndef second():\n    pass\n"),
        ({"pyobject": "second"}, "def second():\n    pass\n"),
    ],
)
def test_excerpts_are_those_of_the_book(tmp_path: Path, options: dict[str, str], shown: str) -> None:
    file = tmp_path / "x.py"
    file.write_text(SOURCE)
    assert excerpt(file, options) == shown.rstrip() + "\n"


def test_an_excerpt_that_is_not_there_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text(SOURCE)
    with pytest.raises(WarpladderError, match="no line has 'gone'"):
        excerpt(file, {"start-at": "gone"})
