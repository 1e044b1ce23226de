"""Masks, scopes of atomics, flags in shared memory, and what kernels ask of the system: each fault is told at its line,
its cured twin is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.emulator.cudart.process import compiled
from grader.emulator.machine.records import Finding
from grader.findings import kernels

FOLDER = Path(__file__).parent
ENDING = ("text_without_end", "text_of_host", "twice", "free_of_local", "asserted")
"""What in services.cu ends its kernel."""


def lines_of(program: Path) -> dict[str, int]:
    """Name → line of those marked BUG."""
    found = (
        (re.search(r"// BUG (\w+)$", text), line)
        for line, text in enumerate(program.read_text().splitlines(), 1)
    )
    return {bug[1]: line for bug, line in found if bug}


@pytest.mark.verify
def test_masks_scopes_and_flags() -> None:
    path = FOLDER / "masks_and_scopes.cu"
    lines = lines_of(path)
    assert len(lines) == 14
    with compiled(path, "sm_90a") as program:
        outcome, cured = program.run([]), program.run(["cured"])
    found: dict[str, Finding] = {}
    for record, _ in outcome.launches:
        for finding in record.findings:
            found.setdefault(record.kernel.split("<")[0], finding)
    assert {name: finding.line for name, finding in found.items()} == lines
    kinds = {name: finding.kind for name, finding in found.items()}
    assert {name for name, kind in kinds.items() if kind == "absent_lanes"} == {*[*lines][:6]}
    assert {name for name, kind in kinds.items() if kind == "race"} == {*[*lines][6:]}
    scoped = {name for name, finding in found.items() if finding.of_block}
    assert scoped == {"count_in_block", "one_in_block", "ticket", "wait"}
    for name in scoped:
        finding = found[name]
        assert finding.other is not None
        assert (finding.block, finding.other.block, finding.scope) == ((1, 0, 0), (0, 0, 0), "grid")
        assert "thread_scope_device" in kernels.remedy(finding)
    assert kernels.message(found["wait"]).endswith("atomic for the threads of its own block alone")
    assert kernels.message(found["half_at_barrier"]) == (
        "thread (0, 0, 0) executes __syncwarp with thread (16, 0, 0) in its mask, which is elsewhere"
    )
    assert [(record.kernel, record.findings) for record, _ in cured.launches if record.findings] == []
    assert (cured.findings, cured.exit_code) == ([], 0)


@pytest.mark.verify
def test_services(capfd: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / "services.cu"
    lines = lines_of(path)
    with compiled(path, "sm_90a") as program:
        accesses = program.run(["accesses"])
        ended = {which: program.run([which]) for which in ENDING}
        cured = program.run(["cured"])
    (copied,) = accesses.findings
    assert copied.place is not None
    assert (copied.kind, copied.place.line) == ("copy_size", lines.pop("symbol"))
    found = {record.kernel: record.findings[0] for record, _ in accesses.launches if record.findings}
    others = [(record.kernel, each.kind) for record, _ in accesses.launches for each in record.findings[1:]]
    assert others == [("copy_past_end", "uninitialised")]  # what lies behind the end of a local array
    for which, outcome in ended.items():
        ((record, _),) = outcome.launches
        (found[which],) = record.findings
    assert {name: finding.line for name, finding in found.items()} == lines
    kinds = {name: finding.kind for name, finding in found.items()}
    assert kinds == dict.fromkeys(lines, "out_of_bounds") | {"asserted": "assert"}
    assert {name for name, finding in found.items() if finding.in_heap} == {"after_free", "past_new"}
    text = kernels.message(found["text_without_end"])
    assert text.endswith("1 byte of shared memory at byte 8, where the block has 8 bytes, in printf")
    assert "frees 0x0 in local memory" in kernels.message(found["free_of_local"])
    assert "once" in kernels.remedy(found["twice"])
    assert [(record.kernel, record.findings) for record, _ in cured.launches if record.findings] == []
    assert (cured.findings, cured.exit_code) == ([], 0)
    assert "1 2.500000 [device] c 1 ff 0x" in capfd.readouterr().out
