"""The programs of the chapter on host code: each prints the same in CUDA C++ and in PyCUDA, and nothing is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tiers import sample

from grader import emulate
from grader.emulator.cudart import process

PROGRAMS = Path(__file__).resolve().parent.parent / "book" / "machine" / "programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.cu"))
ELEMENTS = 1000


def headings(path: Path) -> list[str]:
    """Of the sections, in their order."""
    return re.findall(r"^\s*(?://|#) --- (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_has_the_same_sections_in_both_languages(name: str) -> None:
    sections = headings(PROGRAMS / f"{name}.cu")
    assert len(sections) >= 4
    assert headings(PROGRAMS / f"{name}.py") == sections


def test_every_program_is_there_in_both_languages() -> None:
    assert sorted(path.stem for path in PROGRAMS.glob("*.py")) == NAMES


@pytest.mark.verify
@pytest.mark.parametrize("name", sample(NAMES, ["vector_add"], "emulator"))
def test_both_print_the_same(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    whole = process.run(PROGRAMS / f"{name}.cu", [str(ELEMENTS)], "sm_90a")
    assert (whole.status, whole.findings, whole.faults) == (0, [], 0)
    in_cuda = capfd.readouterr().out.splitlines()
    script = emulate.run(PROGRAMS / f"{name}.py", [str(ELEMENTS)])
    assert (script.failure, script.exit_code) == (None, 0)
    in_python = capfd.readouterr().out.splitlines()
    assert in_cuda[0] == in_python[0] == f"c[{ELEMENTS - 1}] = {3 * (ELEMENTS - 1)}"
    assert len(in_cuda) == len(in_python)
    launches = [(record.kernel, record.grid, record.block) for record, _ in whole.launches]
    assert launches == [(each.kernel, each.grid, each.block) for each in script.launches]
