"""Findings of the host's code in words."""

from __future__ import annotations

from typing import get_args

import pytest

from grader.emulator.cudart.events import HostFinding, HostKind
from grader.emulator.places import GIVEN, Place
from grader.emulator.runtime.layout import GLOBAL_BASE
from grader.findings import host

AT, BEFORE, LINE = Place("prog.cu", 12), Place("prog.cu", 9), Place(GIVEN, 5)


@pytest.mark.parametrize("kind", get_args(HostKind))
def test_every_kind_has_words_and_a_remedy(kind: HostKind) -> None:
    finding = HostFinding(kind, AT, "cudaMemcpy", error="cudaMemcpyHostToDevice", side="source", other=BEFORE)
    assert host.message(finding)
    assert host.remedy(finding).endswith(".")


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        (
            HostFinding("too_early", AT, "", array="h_x", other_call="cudaMemcpyAsync", other=BEFORE),
            "the host reads `h_x`, and cudaMemcpyAsync in line 9 may not have finished: nothing has waited for it",
        ),
        (
            HostFinding("too_early", AT, "", array="h_x", other_call="cudaLaunchKernel", other=BEFORE, writes=True),
            "the host writes `h_x`, and the kernel launched in line 9 may still be using it: "
            "nothing has waited for it",
        ),
        (
            HostFinding(
                "unordered", AT, "cudaLaunchKernel", array="d_x", other_call="cudaMemcpyAsync", other=BEFORE,
                other_writes=True, first=1024, last=4096, nbytes=3072,
            ),
            "the kernel launched here reads `d_x`, which cudaMemcpyAsync in line 9 writes, and nothing puts the two in "
            "order: both touch bytes 1,024 to 4,095",
        ),
        (
            HostFinding(
                "unordered", AT, "cudaFreeAsync", array="d_x", other_call="cudaLaunchKernel", other=BEFORE, writes=True,
                first=0, last=4093, nbytes=1024,
            ),
            "cudaFreeAsync frees `d_x`, which the kernel launched in line 9 reads, and nothing puts the two in order: "
            "both touch 1,024 of the bytes 0 to 4,092",
        ),
        (
            HostFinding("copy_size", AT, "cudaMemcpy", error="small", array="d_x", nbytes=100, room=400),
            "cudaMemcpy copies 100 bytes of `d_x`, which has 400 on both sides: one fourth, and the rest is never "
            "copied",
        ),
        (
            HostFinding("copy_direction", AT, "cudaMemcpy", error="cudaMemcpyDeviceToHost", side="destination"),
            "cudaMemcpyDeviceToHost asks for a destination on the host, but the destination is on the device",
        ),
        (
            HostFinding("use_after_free", AT, "fill", array="d_x", other=BEFORE, inside=LINE, writes=True),
            "the kernel writes, in line 5, to `d_x`, which was freed in line 9",
        ),
        (
            HostFinding("use_after_free", AT, "fill", array="d_x", other=BEFORE, inside=LINE),
            "the kernel reads, in line 5, from `d_x`, which was freed in line 9",
        ),
        (
            HostFinding(
                "use_after_free", AT, "fill", array="d_x", other=Place("buffer.cuh", 18),
                inside=Place("fill.cuh", 5, Place("prog.cu", 7)),
            ),
            "the kernel reads, in line 5 of fill.cuh (called in line 7 of prog.cu), from `d_x`, which was freed in "
            "line 18 of buffer.cuh",
        ),
    ],
)  # fmt: skip
def test_what_happened_is_said_with_the_arrays_name_and_lines(finding: HostFinding, said: str) -> None:
    assert host.message(finding) == said


@pytest.mark.parametrize(
    ("address", "what"),
    [
        (GLOBAL_BASE + 256, "device memory"),
        (GLOBAL_BASE - 1, "memory that is not there"),
        (0x7FFF_0000_0000, "memory that is not there"),  # where stacks lie
        (0, "memory that is not there"),
    ],
)
def test_a_crash_is_said_to_be_from_device_memory_or_not(address: int, what: str) -> None:
    assert f"the host reads {what}, at" in host.message(HostFinding("crash", AT, "", address=address))


def test_a_leak_names_the_call_that_would_free_it() -> None:
    assert "cudaFreeHost" in host.remedy(HostFinding("leak", AT, "cudaHostAlloc", nbytes=4))
    assert "cudaFree " in host.remedy(HostFinding("leak", AT, "cudaMalloc", nbytes=4))


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        (HostFinding("launch_failed", AT, "cudaLaunchKernel", empty=True), "at least one block"),
        (
            HostFinding("unchecked_error", AT, "cudaEventElapsedTime", error="cudaErrorNotReady"),
            "cudaEventSynchronize",
        ),
        (
            HostFinding("copy_size", AT, "cudaMemcpy", error="large", array="d_x", nbytes=400, room=100),
            "Allocate `d_x` in bytes as well",
        ),
    ],
)
def test_a_remedy_mends_the_cause(finding: HostFinding, said: str) -> None:
    assert said in host.remedy(finding)


def test_without_an_order_the_remedy_goes_by_what_gives_none() -> None:
    early = HostFinding("unordered", AT, "cudaLaunchKernelExC", other=BEFORE, one_stream=True)
    assert "cudaGridDependencySynchronize()" in host.remedy(early)
    freed = HostFinding("unordered", AT, "cudaFree", other=BEFORE, array="d_x", writes=True)
    assert host.message(freed).startswith("cudaFree frees `d_x`, which")
    assert "cudaFreeAsync" in host.remedy(freed)


def test_beside_the_default_stream_the_remedy_is_another() -> None:
    pair = [
        HostFinding("unordered", AT, "cudaMemcpy", other=BEFORE, beside_default=beside)
        for beside in (False, True)
    ]
    assert [("NonBlocking" in host.remedy(each), "cudaStreamWaitEvent" in host.remedy(each)) for each in pair] == [
        (False, True), (True, False),
    ]  # fmt: skip
