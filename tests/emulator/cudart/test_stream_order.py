"""Work of two streams on the same memory: found where nothing orders it, with the lines of both calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.emulator.cudart.process import CompiledProgram, compiled

PROGRAM = Path(__file__).parent / "stream_order.cu"


@pytest.fixture(scope="module")
def program() -> Iterator[CompiledProgram]:
    with compiled(PROGRAM, "sm_90a") as program:
        yield program


def marked(word: str) -> dict[str, str]:
    """The places that the program marks, by their names."""
    lines = enumerate(PROGRAM.read_text().splitlines(), 1)
    ends = ((re.search(rf"// {word} (\w+)$", text), line) for line, text in lines)
    return {found[1]: f"{PROGRAM.name}:{line}" for found, line in ends if found}


@pytest.mark.verify
def test_what_nothing_orders_is_found_with_both_lines(program: CompiledProgram) -> None:
    firsts, seconds = marked("FIRST"), marked("BUG")
    assert len(seconds) == 19
    outcome = program.run([])
    found = {(str(each.other), str(each.place)) for each in outcome.findings}
    assert found == {(firsts[name], seconds[name]) for name in seconds}
    assert {each.kind for each in outcome.findings} == {"unordered"}
    by_line = {str(each.place): each for each in outcome.findings}
    arrays = {"pinned": "h_pinned", "allocated": "d_z", "freed": "d_z", "at_once": "d_z"}
    for name, place in seconds.items():
        assert by_line[place].array == arrays.get(name, "d_x")
    assert {name for name, place in seconds.items() if by_line[place].beside_default} == {
        "non_blocking", "memset",
    }  # fmt: skip
    assert [name for name, place in seconds.items() if by_line[place].one_stream] == ["early"]
    half, rows, colours = (by_line[seconds[name]] for name in ("copy_copy", "rows", "colours"))
    assert (half.first, half.last, half.nbytes) == (2048, 4096, 2048)
    assert (rows.first, rows.last, rows.nbytes) == (64, 31 * 128 + 65, 32)
    assert (colours.first, colours.last, colours.nbytes) == (0, 4093, 1024)
    assert [record.findings for record, _ in outcome.launches if record.findings] == []
    assert outcome.exit_code == 1


def test_what_is_in_order_is_not(program: CompiledProgram) -> None:
    outcome = program.run(["cured"])
    assert (outcome.findings, outcome.exit_code) == ([], 0)
