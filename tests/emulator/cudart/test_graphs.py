"""Graphs of added nodes and of captured streams run as CUDA runs them; what happens in a launch has the line that asked
for it first. Their order is held by `test_stream_order`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.emulator.cudart.process import CompiledProgram, compiled

PROGRAM = Path(__file__).parent / "graphs.cu"
NODES = ["6 nodes, 2 roots, 1", "added", "111", "added", "added", "111", "added", "113"]
CAPTURES = ["1", "captured", "captured", "captured", "8 9", "captured", "24 1 1"]
NOT_ALLOWED = [
    "malloc: 900 901 0",
    "malloc, relaxed: 0 0 1",
    "wait: 900 901 0",
    "copy: 906 901 0",
    "default stream: 906 901 0",
    "event: 905 901 0",
    "begin: 401 0 1",
    "not joined: 0 904 0",
    "900 401",
]
"""By what is called while a stream is captured: its cudaError_t, that of the end, and whether there is a graph."""


@pytest.fixture(scope="module")
def program() -> Iterator[CompiledProgram]:
    with compiled(PROGRAM, "sm_90a") as program:
        yield program


def line_of(mark: str) -> int:
    lines = enumerate(PROGRAM.read_text().splitlines(), 1)
    return next(number for number, text in lines if text.endswith(f"// {mark}"))


def test_graphs_run_right(program: CompiledProgram, capfd: pytest.CaptureFixture[str]) -> None:
    outcome = program.run([])
    assert capfd.readouterr().out.splitlines() == [*NODES, *CAPTURES, *NOT_ALLOWED]
    assert (outcome.faults, outcome.exit_code, outcome.undestroyed) == (0, 0, [])


def test_a_fault_of_a_launch_has_the_line_that_was_captured(program: CompiledProgram) -> None:
    outcome = program.run(["bugs"])
    ((record, launched),) = outcome.launches
    (fault,), (early,) = record.findings, outcome.findings
    assert (fault.kind, fault.line, str(launched)) == (
        "out_of_bounds", line_of("FAULT"), f"{PROGRAM.name}:{line_of('LAUNCH')}",
    )  # fmt: skip
    assert (early.kind, early.array, early.place and early.place.line, early.other and early.other.line) == (
        "too_early", "pinned", line_of("BUG"), line_of("COPY"),
    )  # fmt: skip


def test_nodes_for_memory_are_refused(program: CompiledProgram) -> None:
    refused = program.run(["refused"]).refused
    assert refused is not None
    assert "cudaMallocAsync" in refused.what
    assert refused.place is not None
    assert refused.place.line == line_of("REFUSED")
