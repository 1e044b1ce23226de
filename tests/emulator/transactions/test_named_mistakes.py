"""What findings about Hopper's asynchronous instructions say: the line, the cause in numbers, and one remedy."""

from __future__ import annotations

import numpy as np
from emulated import Bench
from test_planted_faults import FAULTS, as_planted, launch
from test_tensor_copies import LOAD, run, source

from grader.emulator.machine.records import Finding
from grader.findings.kernels import message
from grader.findings.remedies import remedy


def line_of(text: str, piece: str) -> int:
    """The first line with a piece of text in it."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if piece in line)


def planted(bench: Bench, name: str) -> tuple[str, Finding]:
    """The source of a planted fault, and what is found."""
    fault = next(fault for fault in FAULTS if fault.name == name)
    return fault.source, as_planted(fault, launch(bench, fault.source, fault.body))[0]


def test_a_block_that_ends_before_a_store_has_read(bench: Bench) -> None:
    _, found = planted(bench, "the block ends while a bulk store may still read")
    assert message(found) == (
        "block (0, 0, 0) ends while the copy that thread (0, 0, 0) issues may still read shared memory at byte 0 "
        "(`tile`): no cp.async.bulk.wait_group of that thread covers it"
    )
    assert "cp.async.bulk.wait_group.read 0 before the block ends" in remedy(found)


def test_a_phase_for_want_of_arrivals_names_the_initialisation(bench: Bench) -> None:
    text, found = planted(bench, "fewer threads arrive than are expected")
    line = line_of(text, "init(&empty[s], 65)")
    assert message(found).endswith(
        f"which never completes: line {line} has initialised it for 65 arrivals a phase, 64 have come, 1 is missing, "
        "and no others can come"
    )


def test_a_copy_to_a_stage_that_is_still_read_is_told_to_wait_for_its_readers(bench: Bench) -> None:
    _, found = planted(bench, "a stage is free before all have read it")
    assert "with no __syncthreads() and no mbarrier in between" in message(found)
    assert "arrive at it behind its last read" in remedy(found)
    assert "initialise it for the arrivals of all of them" in remedy(found)


def test_too_many_arrivals_name_the_initialisation(bench: Bench) -> None:
    text, found = planted(bench, "more threads arrive than are expected")
    line = line_of(text, "init(&done, 63)")
    assert message(found).endswith(
        f"which has no room for that: line {line} has initialised it for 63 arrivals a phase"
    )


def test_a_tensor_map_that_is_no_grid_constant(bench: Bench) -> None:
    tensor, out = np.arange(128, dtype=np.float32).reshape(8, 16), np.zeros(128, np.float32)
    right = source(LOAD, 2)
    ran, _ = run(bench, right, tensor, out, (16, 8), (0, 0))
    assert ran.record.findings == ()
    text = right.replace("const __grid_constant__ Map map", "const Map map")
    ran, _ = run(bench, text, tensor, out, (16, 8), (0, 0))
    (found,) = (found for found in ran.record.findings if found.kind == "tensor_map")
    assert found.line == line_of(text, '"r"(place(tile))')
    assert "by a tensor map that lies in local memory" in message(found)
    assert "`const __grid_constant__ CUtensorMap`" in remedy(found)


def test_a_descriptor_that_leads_outside_names_the_field(bench: Bench) -> None:
    _, found = planted(bench, "byte offsets of a descriptor are not shifted")
    assert found.descriptor
    assert found.descriptor.field == "stride byte offset"
    assert "its stride byte offset is 2,048 bytes (start address" in message(found)
    assert "leading byte offset 1,024, no swizzle)" in message(found)
    assert "(bytes & 0x3FFFF) >> 4" in remedy(found)
    _, found = planted(bench, "the start address of a descriptor is not shifted")
    assert found.descriptor
    assert found.descriptor.field == "start address"


def test_registers_that_a_block_does_not_have(bench: Bench) -> None:
    _, found = planted(bench, "warpgroups ask for more registers than others give back")
    assert found.registers == (128 * (48 + 232 + 232), 384 * 168)
    assert "have 65,536 registers together, where the block began with 64,512" in message(found)
    assert "setmaxnreg.dec" in remedy(found)
