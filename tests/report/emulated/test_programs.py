"""What `ladder run` says after a program."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from grader.emulator.cudart.events import Outcome, Place, Refusal
from grader.report.emulated import programs


@pytest.mark.parametrize(
    ("place", "where"),
    [(Place("prog.cu", 8), "prog.cu:8: "), (None, "prog.cu: "), (Place("a.h", 1), "a.h:1: ")],
)
def test_what_is_refused_is_said_with_its_place_and_a_remedy(place: Place | None, where: str) -> None:
    console = Console(file=io.StringIO(), width=120)
    refused = Refusal("cudaFuture is not emulated", "wait for it", place)
    programs.program(console, Outcome(refused=refused), Path("prog.cu"))
    assert isinstance(console.file, io.StringIO)
    first, second, last = console.file.getvalue().splitlines()
    assert (first.strip(), second.strip()) == (f"error: {where}cudaFuture is not emulated", "→ wait for it")
    assert last.strip() == "prog.cu: 0 launches emulated, 0 findings"
