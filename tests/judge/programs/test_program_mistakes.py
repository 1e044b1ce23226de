"""What is said of one run of a program, and of a failure that was planted in it: without compiling anything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.emulator.cudart.events import HostCall, HostError, HostFinding, Outcome, Place, Trial
from grader.emulator.cudart.status import Status
from grader.emulator.machine.records import LaunchRecord
from grader.judge.programs.mistakes import Run, of_run
from grader.judge.programs.planting import Planted, missed, plants
from grader.workbook import programs
from grader.workbook.programs import Program

PROBLEM = {"N": 1000, "a": 3}
SOURCE = ["int main() {", 'std::printf("checksum %.0f\\n", 0.0);', 'std::printf("time %g ms\\n", ms);']
CALLS = [
    HostCall("cudaMalloc", Place("main.cu", 4)),
    HostCall("cudaMalloc", Place("main.cu", 5)),
    HostCall("cudaMemcpy", Place("main.cu", 6), 1),
    HostCall("cudaEventRecord", Place("main.cu", 7)),
    HostCall("cudaLaunchKernel", Place("main.cu", 8)),
    HostCall("cudaEventRecord", Place("main.cu", 9)),
    HostCall("cudaMemcpy", Place("main.cu", 10), 2),
    HostCall("cudaEventElapsedTime", Place("main.cu", 11)),
]


@pytest.fixture
def saxpy() -> Program:
    found = programs.find("saxpy")
    assert found is not None
    return found


def launch(blocks: int) -> LaunchRecord:
    return LaunchRecord(
        kernel="saxpy", grid=(blocks, 1, 1), block=(256, 1, 1), shared_bytes=0, registers=8, status="completed",
        counters={}, lines=(), findings=(), blocks_run=blocks, grid_blocks=blocks, dram_read_bytes=0,
        dram_write_bytes=0, l2_read_bytes=0, l2_write_bytes=0, l2_common_bytes=0, longest_warp=0, longest_block=0,
        most_loaded_bytes=0, load_path=0,
        shared_used_bytes=0, reads_beside_writes=0, copies_beside_reads=0, bulk_beside_reads=0, communicates=False,
        may_wait=False,
    )  # fmt: skip


def right(saxpy: Program) -> Run:
    outcome = Outcome(launches=[(launch(4), Place("main.cu", 8))], calls=list(CALLS))
    checksum = saxpy.reference.printed(PROBLEM)["checksum"]
    return Run(PROBLEM, outcome, f"checksum {checksum:.0f}\ntime 0.5 ms\n", SOURCE)


def test_nothing_is_said_of_a_right_run(saxpy: Program) -> None:
    assert of_run(saxpy, right(saxpy)) == []


@pytest.mark.parametrize(
    ("change", "kind", "line", "said"),
    [
        ({"launches": []}, "launch", 1, "never launched"),
        ({"status": 1}, "status", 1, "no call has failed"),
        (
            {"errors": [HostError("cudaMalloc", Place("main.cu", 4), "cudaErrorMemoryAllocation", "")]},
            "error", 4, "cudaMalloc returns cudaErrorMemoryAllocation",
        ),
        ({"findings": [HostFinding("leak", Place("main.cu", 5), "cudaMalloc", nbytes=4)]}, "leak", 5, "never freed"),
        ({"calls": [*CALLS[:3], *CALLS[4:]]}, "time", 8, "not recorded around this launch"),
        ({"calls": CALLS[:-1]}, "time", 3, "not one between two events"),
        ({"undestroyed": [HostCall("cudaEventCreate", Place("main.cu", 2))]}, "leak", 2, "the event that"),
        ({"undestroyed": [HostCall("cudaStreamCreate", Place("main.cu", 2))]}, "leak", 2, "the stream that"),
    ],
)  # fmt: skip
def test_what_a_run_did_wrong(
    saxpy: Program, change: dict[str, object], kind: str, line: int, said: str
) -> None:
    run = right(saxpy)
    (found,) = of_run(saxpy, replace(run, outcome=replace(run.outcome, **change)))  # type: ignore[arg-type]
    assert (found.kind, found.line) == (kind, line)
    assert said in found.message
    assert (found.remedy or "").endswith(".")


@pytest.mark.parametrize(
    ("wrong", "change", "said"),
    [
        (None, {"launches": [(launch(3), Place("main.cu", 8))]}, "768 threads, and there are 1,000 elements"),
        (None, {"calls": CALLS[:-2]}, "never copied back"),
        ("x", {}, "finds zeros where x should be"),
        ("y", {}, "finds zeros where y should be"),
        (None, {}, "is right"),
    ],
)
def test_a_wrong_number_is_explained(
    saxpy: Program, wrong: str | None, change: dict[str, object], said: str
) -> None:
    run = right(saxpy)
    told = saxpy.reference.mistakes(PROBLEM)
    known = {text.split()[5]: value["checksum"] for value, text, _ in told if " and " not in text}
    text = f"checksum {known[wrong] if wrong else -1:.0f}\ntime 1 ms\n"
    (found,) = of_run(saxpy, replace(run, text=text, outcome=replace(run.outcome, **change)))  # type: ignore[arg-type]
    assert found.kind == "output"
    assert said in found.message


@pytest.mark.parametrize("text", ["", "checksum\n", "sum 5\n", "checksum many\n"])
def test_a_number_that_is_not_printed_is_told_with_the_statement(saxpy: Program, text: str) -> None:
    found = of_run(saxpy, replace(right(saxpy), text=text))
    assert "no line `checksum …` is printed" in found[0].message
    assert saxpy.prints["checksum"] in (found[0].remedy or "")


def test_every_place_that_may_fail_does_so_once() -> None:
    loop = [*CALLS, CALLS[0]]
    found = [(each.line, each.kind, each.trial.fails) for each in plants(Outcome(calls=loop))]
    assert found == [
        (4, "call", 0), (5, "call", 1), (6, "call", 2), (8, "launch", 4), (8, "kernel", 4), (10, "call", 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "text", "said"),
    [
        (1, "main.cu:4: out of memory", None),
        (1, "cudaErrorMemoryAllocation", None),
        (0, "main.cu:4: out of memory", "goes on and ends with status 0"),
        (139, "out of memory", "goes on and crashes"),
        (1, "error", "ends without naming this error"),
    ],
)
def test_a_failure_is_reported_by_a_word_and_a_status(status: int, text: str, said: str | None) -> None:
    planted = Planted(Trial(0, int(Status.MemoryAllocation)), CALLS[0])
    found = missed(planted, Outcome(status=status), text)
    assert (found is None) == (said is None)
    if found is not None and said is not None:
        assert said in found.message
        assert (found.kind, found.line) == ("unnoticed", 4)
