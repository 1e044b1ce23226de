"""`ladder hint`: what limits a kernel, then the idea, and code only when asked a third time."""

import re
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from test_commands import Ladder, ladder

from grader.judge.grade import refused
from grader.report.grades.hints import OWN_RUNGS
from grader.results import Hint
from grader.workbook.content import content_root
from grader.workbook.topics import load

__all__ = ["ladder"]

TILE = content_root() / "kernels/optimized/transpose/02_shared_tile.cu"
CODE = "tile[TILE][TILE + PAD]"
IDEA = "One unused word at the end of each row"


@pytest.fixture(autouse=True)
def a_folder_like_no_other(ladder: Ladder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which hint comes next is remembered by the path of the file, and longer than temporary folders last."""
    folder = tmp_path / uuid.uuid4().hex
    folder.mkdir()
    monkeypatch.chdir(folder)


def asked(ladder: Ladder, *more: str) -> str:
    return ladder("hint", "transpose", "mine.cu", "--device", "emulator", *more).out


@pytest.mark.verify
def test_code_is_shown_to_who_asks_a_third_time(ladder: Ladder) -> None:
    Path("mine.cu").write_text(TILE.read_text())
    first, second, third, fourth = (asked(ladder) for _ in range(4))
    assert "without bank conflicts" in first
    assert re.search(r"Costliest: line \d+, .* bank conflicts", first)
    assert IDEA in second
    assert CODE in third
    assert fourth == third
    assert not any(CODE in shown for shown in (first, second))
    assert not any(IDEA in shown for shown in (first, third))


@pytest.mark.verify
def test_a_step_can_be_asked_for(ladder: Ladder) -> None:
    Path("mine.cu").write_text(TILE.read_text())
    assert IDEA in asked(ladder, "--step", "2")
    assert CODE in asked(ladder, "--step", "3")


@pytest.mark.verify
def test_a_new_rung_begins_with_its_first_hint(ladder: Ladder) -> None:
    Path("mine.cu").write_text(TILE.read_text())
    asked(ladder)
    assert "Hint 2 of 3" in asked(ladder)
    Path("mine.cu").write_text(TILE.with_name("03_padded_tile.cu").read_text())
    assert "Hint 1 of 3" in asked(ladder)


def test_another_claim_of_the_same_rung_begins_with_its_first_hint(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine.cu").write_text(TILE.read_text())
    rung, asks = "03_padded_tile", ["it has 7 columns", "it has 7 columns", "no conflicts", None, None]
    known = refused(load("transpose"), "mine.cu", "pass", "")
    grades = (
        replace(known, rung_reached="02_shared_tile", hints=[Hint(rung, f"at {place}", claim)])
        for place, claim in enumerate(asks)
    )
    monkeypatch.setattr("grader.cli.editing._graded", lambda *_: next(grades))
    assert [asked(ladder).partition(" of 3")[0] for _ in asks] == [f"Hint {step}" for step in (1, 2, 1, 1, 2)]


def test_a_wrong_kernel_is_told_the_concept_then_the_line_and_is_not_judged_again(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder("new", "transpose", "mine.cu")
    assert ladder("grade", "transpose", "mine.cu", "--device", "emulator").code == 1
    monkeypatch.setattr("grader.judge.grade.grade", None)
    done = ladder("hint", "transpose", "mine.cu", "--device", "emulator")
    assert done.code == 1
    first, second, third = (" ".join(text.split()) for text in (done.out, asked(ladder), asked(ladder)))
    assert "Element (row, column) of in is element (column, row) of out" in first
    assert 'The lesson tells it under "00: read rows, write columns"' in first
    number = next(
        n for n, line in enumerate(Path("mine.cu").read_text().splitlines(), 1) if "] = in[" in line
    )
    assert f"line {number} of mine.cu: out[size_t(row) * N + column] = in" in second
    assert "+ out[size_t(column) * M + row] = in" in third


def test_a_file_that_has_changed_is_judged_again(ladder: Ladder, monkeypatch: pytest.MonkeyPatch) -> None:
    ladder("new", "transpose", "mine.cu")
    asked(ladder)
    text = Path("mine.cu").read_text()
    Path("mine.cu").write_text(text.replace("out[size_t(row) * N + column]", "out[0]"))
    said = asked(ladder, "--step", "2")
    assert "Look at line" in said
    assert "out[0] = in" in said
    assert 'under "00: read rows, write columns"' in asked(ladder, "--step", "1")


def test_a_wrong_kernel_is_led_to_what_its_starter_asks(ladder: Ladder) -> None:
    ladder("new", "add_bias", "mine.cu")
    idea, lines = (
        ladder("hint", "add_bias", "mine.cu", "--device", "emulator", "--step", step).out for step in "13"
    )
    idea = " ".join(idea.split())
    assert "so that it is looked up by the column" in idea
    assert 'The lesson tells it under "A matrix in memory"' in idea
    changed = [line for line in lines.splitlines() if line.startswith(("+", "-"))]
    assert changed == ["-    out[i] = in[i];", "+    out[i] = in[i] + bias[column];"]


def test_no_line_is_broken_in_a_pipe(ladder: Ladder) -> None:
    Path("mine.cu").write_text((content_root() / "kernels/naive/transpose.cu").read_text())
    limits, idea, lines = (asked(ladder, "--step", step) for step in "123")
    assert 'under "01: read columns, write rows"' in limits
    assert max(map(len, idea.splitlines())) > 120
    assert OWN_RUNGS in lines
    code = TILE.with_name("01_coalesced_writes.cu").read_text().splitlines()
    long = [line[1:] for line in lines.splitlines() if len(line) > 81 and line[0] != "-"]
    assert long
    assert set(long) <= set(code)


@pytest.mark.parametrize("step", ["0", "4"])
def test_there_are_three_steps(ladder: Ladder, step: str) -> None:
    assert ladder("hint", "transpose", "mine.cu", "--step", step).code == 2


@pytest.mark.verify
def test_the_top_of_the_ladder_has_no_hint(ladder: Ladder) -> None:
    Path("mine.cu").write_text(TILE.with_name("05_float4_tile.cu").read_text())
    assert "there is no further rung" in asked(ladder)


@pytest.mark.verify
def test_another_mistake_begins_with_its_first_hint(ladder: Ladder) -> None:
    ladder("new", "transpose", "mine.cu")
    mended = Path("mine.cu").read_text().replace("row) * N + column] =", "column) * M + row] =")
    for wrong, hints in (("in[0] + in", (1, 2)), ("2 * in", (1,))):
        file = mended.replace("] = in", f"] = {wrong}")
        for step in hints:
            Path("mine.cu").write_text(f"{step * chr(10)}{file}")  # a line further down: the same mistake
            assert f"Hint {step} of 3" in asked(ladder)


def test_an_exercise_tells_its_own_hints(ladder: Ladder) -> None:
    ladder("new", "thread_index", "mine.cu")
    first, second, third = (
        ladder("hint", "thread_index", "mine.cu", "--device", "emulator").out for _ in range(3)
    )
    assert all(f"Hint {step} of 3" in text for step, text in enumerate((first, second, third), 1))
    assert "const int i = threadIdx.x;" in third
    assert "const int i" not in first + second
