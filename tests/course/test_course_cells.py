"""Assignments as notebooks, and submissions whose cells are put back in place."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.course import assignment
from grader.course.restore import Original, Unclear, answer, as_released, as_text, read, restored, shown
from grader.workbook import topics

TOPICS = topics.discover()
NAMES = list(TOPICS)

Cell = dict[str, Any]


# ---- assignments -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_an_assignment_has_the_lessons_problem_and_the_starter(name: str) -> None:
    topic = TOPICS[name]
    made = assignment.notebook(topic)
    nbformat.validate(made)
    assert made == assignment.notebook(topic), "the same topic makes the same file"
    prose = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    lesson = (topic.folder / "lesson.md").read_text(encoding="utf-8")
    assert prose.startswith(lesson.splitlines()[0])
    assert "## The bound" in prose or "## The arithmetic of it" in prose
    assert topic.starter.read_text(encoding="utf-8").strip() in made.cells[5].source
    assert not re.search(r"^[`:]{3,}\{", prose, re.MULTILINE), "a directive that no notebook shows"


@pytest.mark.parametrize("name", NAMES)
def test_an_assignment_gives_no_rung_away(name: str) -> None:
    topic = TOPICS[name]
    text = "\n".join(cell.source for cell in assignment.notebook(topic).cells)
    starter = topic.starter.read_text(encoding="utf-8")
    for rung in topic.rungs:
        lines = {line.strip() for line in rung.source.splitlines() if len(line.strip()) > 30}
        shared = {line for line in lines if line in text and line not in starter}
        assert not shared, rung.id


@pytest.mark.parametrize("name", NAMES)
def test_points_of_an_assignment_are_the_topics(name: str) -> None:
    topic = TOPICS[name]
    made = assignment.notebook(topic)
    graded = [cell for cell in made.cells if cell.metadata.nbgrader.grade]
    assert sum(cell.metadata.nbgrader.points for cell in graded) == topic.max_points
    for cell in graded:
        assert len(cell.source.splitlines()) == 1
        assert cell.metadata.nbgrader.locked
    marks = next(cell.source for cell in made.cells if cell.metadata.nbgrader.grade_id == "marks")
    for claim in topic.claims:
        assert assignment._claim(claim.text) in marks


# ---- cells put back ----------------------------------------------------------------------------------------


ORIGINALS = [
    Original("problem", "markdown", "# Transpose", locked=True, solution=False, checksum="1" * 32),
    Original(
        "kernel-transpose", "code", "%%kernel mine --topic transpose\nstarter", locked=False, solution=True
    ),
    Original("transpose-00_naive", "code", "course.points(1)", locked=True, solution=False, points=10.0),
    Original("essay", "markdown", "Why?", locked=False, solution=True, points=5.0),
    Original("transpose-01_wide", "code", "course.points(2)", locked=True, solution=False, points=20.0),
]
KERNEL = "%%kernel mine --topic transpose\nmine"


def released() -> list[Cell]:
    """The cells as they are handed out."""
    return [
        {
            "cell_type": original.cell_type,
            "source": original.source,
            "metadata": assignment.metadata(
                original.grade_id, original.locked, original.solution, original.points
            ),
        }
        for original in ORIGINALS
    ]


def own(source: str = "own") -> Cell:
    return {"cell_type": "code", "source": source, "metadata": {}}


def ids(cells: list[Any]) -> list[str | None]:
    return [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]


ALL = [original.grade_id for original in ORIGINALS]


def test_an_untouched_submission_stays_as_it_is() -> None:
    made = restored({"cells": released()}, ORIGINALS)
    assert [cell.source for cell in made.cells] == [original.source for original in ORIGINALS]
    assert ids(made.cells) == ALL


def test_answers_are_kept_and_locked_cells_are_not() -> None:
    cells = released()
    cells[0]["source"] = cells[2]["source"] = "changed"
    cells[1]["source"], cells[3]["source"] = KERNEL, "Because."
    made = restored({"cells": cells}, ORIGINALS)
    assert [cell.source for cell in made.cells] == [
        "# Transpose",
        KERNEL,
        "course.points(1)",
        "```text\nBecause.\n```",
        "course.points(2)",
    ]


def test_missing_cells_come_back_with_their_points() -> None:
    made = restored({"cells": [own(), own(KERNEL)]}, ORIGINALS)
    assert ids(made.cells) == [None, None, *ALL]
    assert made.cells[4].metadata.nbgrader.points == 10.0
    assert made.cells[3].source == KERNEL


def test_cells_of_the_learners_own_stay_where_they_were_and_have_no_marks() -> None:
    cells = released()
    forged = own("100.0")
    forged["metadata"] = {"nbgrader": {"grade": True, "grade_id": "bonus", "points": 100}}
    cells.insert(2, forged)
    made = restored({"cells": cells}, ORIGINALS)
    assert [cell.source for cell in made.cells][2] == "100.0"
    assert made.cells[2].metadata == {}


WRITTEN = st.text(alphabet="`~<>a$\\ \n", max_size=60)


@given(WRITTEN)
def test_what_learners_write_is_one_block_of_code(written: str) -> None:
    """Whatever fences they open and close themselves: nothing of it is rendered."""
    (block,) = MarkdownIt("commonmark").parse(as_text(written))
    assert (block.type, block.info, block.content) == ("fence", "text", f"{written}\n")


def test_prose_of_a_learners_own_is_shown_and_not_rendered() -> None:
    prose = {"cell_type": "markdown", "metadata": {}, "source": "<img src=x onerror=alert(1)>"}
    made = restored({"cells": [prose, prose | {"cell_type": "raw"}, *released()]}, ORIGINALS)
    assert [cell.source for cell in made.cells[:2]] == [as_text(prose["source"])] * 2


@pytest.mark.parametrize("work_first", [True, False])
def test_of_two_copies_the_changed_one_is_the_answer(work_first: bool) -> None:
    cells = released()
    mine = copy.deepcopy(cells[1]) | {"source": KERNEL}
    cells.insert(1 if work_first else 2, mine)
    made = restored({"cells": cells}, ORIGINALS)
    by_id = dict(zip(ids(made.cells), made.cells, strict=True))
    assert by_id["kernel-transpose"].source == KERNEL
    assert [name for name in ids(made.cells) if name] == ALL


def test_of_two_changed_copies_the_last_is_the_answer() -> None:
    first, last = released()[1] | {"source": "a"}, released()[1] | {"source": "b"}
    assert answer([first, last], ORIGINALS[1]) == "b"


# The cell of the answer, 0 the one above it, 1 the one below, 2 below the first graded cell: what each holds, and what
# is marked.
TRIES = [
    ({}, "starter"),
    ({1: "new"}, "new"),
    ({0: "new"}, "new"),
    ({2: "new"}, "new"),
    ({"answer": "first", 1: "second"}, "second"),
    ({"answer": "first", 0: "second"}, "first"),
    ({"answer": "first", 1: "starter"}, "first"),
    ({"answer": "first", 2: "first \n"}, "first"),
    ({"answer": "", 1: "moved"}, "moved"),
    ({"answer": ""}, ""),
    ({"answer": "first", 2: "second"}, None),
    ({1: "first", 2: "second"}, None),
]


@pytest.mark.parametrize(("tries", "marked"), TRIES)
def test_what_the_graded_cells_grade_is_marked_or_it_is_refused(
    tries: dict[int | str, str], marked: str | None
) -> None:
    """Whichever cell it stands in: the name is what the graded cells go by."""
    problem, kernel, *graded = released()
    kernel["source"] = f"%%kernel mine --topic transpose\n{tries.get('answer', 'starter')}"
    own_cells = {place: own(f"%%kernel mine --topic=transpose\n{text}") for place, text in tries.items()}
    cells = [
        problem,
        own_cells.get(0, own()),
        kernel,
        own_cells.get(1, own()),
        graded[0],
        own_cells.get(2, own()),
    ]
    if marked is None:
        with pytest.raises(Unclear, match=r"the cells \d and 6 each hold another kernel for transpose"):
            answer([*cells, *graded[1:]], ORIGINALS[1])
    else:
        found = answer([*cells, *graded[1:]], ORIGINALS[1])
        assert found.partition("\n")[2].strip() == marked


@pytest.mark.parametrize("line", ["%%kernel yours", "%%kernel mine --topic", "%%kernel mine --topic gemm"])
def test_a_cell_that_the_graded_ones_do_not_ask_for_is_no_answer(line: str) -> None:
    assert answer([*released(), own(f"{line}\nx")], ORIGINALS[1]) == ORIGINALS[1].source


@pytest.mark.parametrize("graded", ["starter", "", None])
@pytest.mark.parametrize("line", ["%%kernel fast --topic transpose", "%%kernel mine"])
def test_work_where_nothing_grades_it_is_not_the_starter(line: str, graded: str | None) -> None:
    """Whether the cell that is graded is as released, emptied or gone; of nobody's outputs anything is asked."""
    problem, kernel, *rest = released()
    kernel["source"] = f"%%kernel mine --topic transpose\n{graded}"
    before = [problem] if graded is None else [problem, kernel]
    cells = [*before, own(f"{line}\nwork"), *rest]
    with pytest.raises(Unclear, match=f"^the cell {len(before) + 1} holds a kernel that is not graded"):
        answer(cells, ORIGINALS[1])


def test_a_second_kernel_beside_work_is_no_doubt() -> None:
    cells = released()
    cells[1]["source"] = KERNEL
    assert answer([*cells, own("%%kernel fast --topic transpose\nfast")], ORIGINALS[1]) == KERNEL


def stripped(cells: list[Cell]) -> list[Cell]:
    return [cell | {"metadata": {}} for cell in cells]


MARKDOWN = {"cell_type": "markdown", "metadata": {}, "source": KERNEL}


@pytest.mark.parametrize(
    "cells",
    [
        [],
        [own("print(1)")],
        [own("extern work")],
        stripped([*released()[:1], own("extern work"), *released()[2:]]),
        stripped([*released()[:1], MARKDOWN, *released()[2:]]),
        stripped([own("%%kernel mine --topic reduce\nwork")]),
        [cell for cell in released() if cell["source"] != ORIGINALS[1].source],
    ],
    ids=["nothing", "unrelated", "no magic", "stripped", "Markdown", "another topic's", "deleted"],
)
def test_a_notebook_without_the_kernels_cell_is_not_the_starter(cells: list[Cell]) -> None:
    with pytest.raises(Unclear, match="no cell is the one for transpose's kernel"):
        restored({"cells": cells}, ORIGINALS)
    assert [cell.source for cell in as_released(ORIGINALS).cells] == [one.source for one in ORIGINALS]


@pytest.mark.parametrize(("named", "refused"), [("reduce", True), ("transpos", False)])
def test_a_kernel_that_says_it_is_another_topics_is_not_marked(named: str, refused: bool) -> None:
    """A name that no topic has is a slip."""
    cells = released()
    cells[1]["source"] = f"%%kernel mine --topic {named}\nwork"
    if refused:
        with pytest.raises(
            Unclear, match="the cell 2 says that its kernel is for reduce, and not for transpose"
        ):
            answer(cells, ORIGINALS[1])
    else:
        assert answer(cells, ORIGINALS[1]).endswith("work")


@pytest.mark.parametrize(
    ("values", "points"),
    [(["10.0", "20.0"], 30.0), ([["1", "0"], "0"], 10.0), (["10.0", "x"], None), (["1"], None)],
)
def test_what_the_graded_cells_show(values: list[Any], points: float | None) -> None:
    cells = released()
    for cell, value in zip((cells[2], cells[4]), values, strict=False):
        cell["outputs"] = [{"output_type": "execute_result", "data": {"text/plain": value}}]
    assert shown(cells, "transpose") == points
    assert shown(cells, "gemm") is None


def test_a_kernel_without_its_name_is_found_by_its_first_line() -> None:
    assert answer([own("%%kernel  mine   --topic transpose\nx"), own()], ORIGINALS[1]).endswith("x")


BROKEN = st.sampled_from(
    [None, "", 7, [], {}, {"grade_id": 3}, {"grade_id": "kernel-transpose"}, {"grade": True}]
)
OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["drop", "copy", "move", "change", "break", "type", "junk"]),
        st.integers(0, 9),
        BROKEN,
    ),
    max_size=12,
)


@settings(max_examples=200, deadline=None)
@given(OPERATIONS)
def test_whatever_was_done_the_assignments_cells_are_there_once_and_in_order(operations: list[Any]) -> None:
    cells: list[Any] = released()
    for operation, where, value in operations:
        cells = done(cells, operation, where % (len(cells) or 1), value)
    try:
        made = restored({"cells": cells}, ORIGINALS)
    except Unclear:
        return
    nbformat.validate(made)
    assert [name for name in ids(made.cells) if name is not None] == ALL
    for original in ORIGINALS:
        cell = next(cell for cell in made.cells if ids([cell]) == [original.grade_id])
        about = cell.metadata.nbgrader
        assert (about.get("points"), about.locked, about.solution) == (
            original.points,
            original.locked,
            original.solution,
        )
        assert cell.cell_type == original.cell_type
        assert not original.locked or cell.source == original.source


def done(cells: list[Any], operation: str, where: int, value: Any) -> list[Any]:
    """The cells after one thing that a learner, or a program, may do to them."""
    if operation == "junk":
        return [*cells, value]
    if not cells or not isinstance(cells[where], dict):
        return cells
    cell = copy.deepcopy(cells[where])
    others = cells[:where] + cells[where + 1 :]
    if operation == "drop":
        return others
    if operation == "copy":
        return [*cells, cell]
    if operation == "move":
        return [cell, *others]
    if operation == "change":
        cell["source"] = "changed"
    elif operation == "break":
        cell["metadata"] = {"nbgrader": value}
    elif operation == "type":
        cell["cell_type"] = "raw"
    return [*cells[:where], cell, *cells[where + 1 :]]


HALF = '{"cells": [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "\\ud800 and \\ud83d\\ude00"}], '
HALF += '"metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16"])
def test_notebooks_are_read_in_every_coding_that_says_what_it_is(coding: str, tmp_path: Path) -> None:
    """And halves of characters, which nothing can write, do not stop a class."""
    file = tmp_path / "transpose.ipynb"
    file.write_bytes(HALF.encode(coding))
    assert read(file).cells[0].source == "? and 😀"


@pytest.mark.parametrize("data", [b"", b"\xff", "é".encode("latin-1"), b"[" * 100_000, b"{}"])
def test_what_is_no_notebook_is_an_error(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "transpose.ipynb"
    file.write_bytes(data)
    with pytest.raises((ValueError, RecursionError, nbformat.ValidationError)):
        read(file)
