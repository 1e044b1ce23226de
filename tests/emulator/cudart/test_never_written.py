"""Memory that nobody has written: told where it is read first, with its allocation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.emulator.cudart.process import CompiledProgram, compiled
from grader.findings import host, kernels, remedies

pytestmark = pytest.mark.verify  # a program of twelve kernels, which take ten seconds to compile

PROGRAM = Path(__file__).parent / "never_written.cu"


@pytest.fixture(scope="module")
def program() -> Iterator[CompiledProgram]:
    with compiled(PROGRAM, "sm_90a") as program:
        yield program


def test_each_is_told_once_where_it_is_read_first(program: CompiledProgram) -> None:
    lines = {
        found[1]: line
        for line, text in enumerate(PROGRAM.read_text().splitlines(), 1)
        if (found := re.search(r"// BUG (\w+)$", text))
    }
    assert len(lines) == 12
    outcome = program.run([])
    found = [(finding, record) for record, _ in outcome.launches for finding in record.findings]
    assert {finding.kind for finding, _ in found} == {"uninitialised_global"}
    to_host = lines.pop("to_host")
    assert [(finding.line, record.kernel) for finding, record in found] == [
        (line, name) for name, line in lines.items()
    ]
    by_kernel = {record.kernel: finding for finding, record in found}
    counts = {"count": 1, "histogram": 10, "tail": 100, "halo": 1, "broadcast": 1, "lock": 1, "wide": 250,
              "bytewise": 250, "hollow": 990}  # fmt: skip
    assert {name: finding.count for name, finding in by_kernel.items()} == {
        name: counts.get(name, 1000) for name in lines
    }
    tail = by_kernel["tail"]
    assert (tail.array, tail.element, tail.shape, tail.action) == ("d_z", 900, (1000,), "read")
    assert by_kernel["histogram"].action == "atomic"
    assert re.fullmatch(
        r"thread \(0, 0, 0\) reads what nobody has written in `d_z`\[0\] since cudaMallocAsync in line \d+",
        kernels.message(by_kernel["wide"]),
    )
    assert re.fullmatch(
        r"thread \(10, 0, 0\) reads what nobody has written in `d_z`\[10\] since cudaMalloc in line \d+: "
        r"cudaMemcpy in line \d+ brings what nobody had written on the host",
        kernels.message(by_kernel["hollow"]),
    )
    assert remedies.remedy(by_kernel["hollow"]).startswith("Set the array on the host before it is copied")
    (copied,) = outcome.findings
    assert copied.place is not None
    assert (copied.kind, copied.place.line, copied.array, copied.nbytes) == (
        "never_written", to_host, "d_out", 4000,
    )  # fmt: skip
    assert "nobody has written any of them since cudaMalloc in line" in host.message(copied)
    assert outcome.exit_code == 1


def test_what_is_set_is_not(program: CompiledProgram) -> None:
    outcome = program.run(["cured"])
    assert [record.findings for record, _ in outcome.launches if record.findings] == []
    assert (outcome.findings, outcome.exit_code) == ([], 0)
