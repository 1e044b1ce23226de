"""How changes of a text are told: what is to be replaced is one place of its line, or all that are alike there."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from grader.workbook import cuda_edits, small_edits, topics
from grader.workbook.edit import all_instead, instead, lines_of

STEP = "    for (int j = 0; j < TILE; j += TILE) {"


@pytest.mark.parametrize(
    ("text", "old", "nth", "said"),
    [
        ("i = j + N;", "N", 0, "`M` in place of `N`"),
        (STEP, "TILE", 1, "`j += M` in place of `j += TILE`"),
        ("f(a[i], b, a[i]);", "a[i]", 0, "`f(M, b, a[i])` in place of `f(a[i], b, a[i])`"),
        ("x += N; y *= N;", "N", 1, "`y *= M` in place of `y *= N`"),
        ("{1, 0, 0, 1}", "0", 1, "`M` in place of the second `0`"),
    ],
)
def test_what_is_told_to_be_replaced_is_one_place(text: str, old: str, nth: int, said: str) -> None:
    start = [found.start() for found in re.finditer(re.escape(old), text)][nth]
    assert instead(text, start, start + len(old), "M") == said


def test_of_several_lines_each_has_as_much_around_it_as_it_needs() -> None:
    first, second, both = lines_of(f"{STEP}\n    r += TILE;\n    r = TILE * TILE;")
    last = STEP.index("TILE)")
    places = [(first, last, last + 4), (second, 9, 13), (both, 8, 12), (both, 15, 19)]
    assert all_instead(places, "M") == (
        "`j += M` in place of `j += TILE` in line 1 and `M` in place of `TILE` in lines 2 and 3"
    )


_SAID = re.compile(r"`[^`]*` in place of `(?P<old>[^`]*)` in lines? (?P<lines>\d[\d, and]*)")


@pytest.mark.parametrize(
    ("topic", "rung"), [("transpose", "02_shared_tile"), ("stencil", "02_register_window")]
)
def test_nothing_is_told_that_may_be_one_place_or_another(topic: str, rung: str) -> None:
    source = topics.load(topic).rung(rung).path.read_text("utf-8")
    lines = list(lines_of(source))
    for edit in chain(cuda_edits.edits(source), small_edits.edits(source)):
        for found in _SAID.finditer(edit.said):
            whole = re.compile(rf"(?<![\w.]){re.escape(found['old'])}(?!\w)")
            for line in (lines[int(number) - 1] for number in re.findall(r"\d+", found["lines"])):
                alike = [
                    (line.start + each.start(), line.start + each.end()) for each in whole.finditer(line.text)
                ]
                kept = [
                    (first, last)
                    for first, last in alike
                    if not any(start <= last and first <= end for start, end, _ in edit.changes)
                ]
                assert len(alike) < 2 or not kept, edit.said
