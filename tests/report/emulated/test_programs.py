"""What `ladder run` says after a program."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from records import at, record
from rich.console import Console

from grader.emulator.cudart.events import Outcome, Refusal
from grader.emulator.machine.records import Origin
from grader.emulator.places import Place
from grader.report.emulated import programs


def test_a_nan_is_no_finding_and_is_said_below_them() -> None:
    console = Console(file=io.StringIO(), width=80)
    root = Origin(at(7), "sqrt.rn.f32", ("-1",), of_exponential=False, block=(0, 0, 0), thread=(3, 0, 0))
    launched = record(kernel="norm", first_nan=root)
    outcome = Outcome(launches=[(launched, Place("prog.cu", 12)), (record(kernel="norm"), None)])
    programs.program(console, outcome, Path("prog.cu"))
    assert isinstance(console.file, io.StringIO)
    *_, said, last = console.file.getvalue().splitlines()
    assert said.startswith(
        "prog.cu: norm, launched in line 12: NaN is first made in line 7, by thread (3, 0, 0)"
    )
    assert last.strip() == "prog.cu: 2 launches emulated, 0 findings"
    assert outcome.exit_code == 0


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
