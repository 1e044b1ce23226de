"""Words for what a kernel did, from data made by hand."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import get_args

import pytest

from grader.emulator.machine import findings as found_by_the_emulator
from grader.emulator.machine.records import TOOLS, Access, Allocation, Finding, Kind, Tool
from grader.findings.kernels import message, result
from grader.findings.remedies import remedy
from grader.results import FindingResult, OtherAccess

BASE = 0x7000_0010_0000
KINDS: tuple[Kind, ...] = get_args(Kind)
BOOK = Path(__file__).parents[2] / "book" / "reference" / "emulator.md"

FIRST, SECOND = (0, 0, 0), (1, 0, 0)


def of_b(kind: Kind, offset: int, **changes: object) -> Finding:
    """A finding about `B`, 131 floats, whose type is known."""
    values: dict[str, object] = {
        "action": "read",
        "space": "global",
        "address": BASE + offset,
        "size": 4,
        "allocation": Allocation(BASE, 524),
        "array": "B",
        "element": offset // 4,
        "shape": (131,),
    }
    return Finding(kind, 7, 1, FIRST, SECOND, **(values | changes))  # type: ignore[arg-type]


def of_tile(kind: Kind, **changes: object) -> Finding:
    """A finding about shared memory."""
    values: dict[str, object] = {"action": "read", "space": "shared", "address": 132, "array": "tile"}
    return Finding(kind, 7, 1, FIRST, SECOND, **(values | changes))  # type: ignore[arg-type]


def test_every_kind_has_a_tool_words_a_remedy_and_a_place_in_the_book() -> None:
    book = BOOK.read_text("utf-8")
    assert set(TOOLS) == set(KINDS)
    assert set(TOOLS.values()) == set(get_args(Tool))
    assert set(found_by_the_emulator._KINDS.values()) <= set(KINDS)
    for kind in KINDS:
        access = Access("write")
        plain = Finding(
            kind, 7, 1, FIRST, SECOND, action="read", space="shared", address=0, size=4, other=access
        )
        shown = result(plain, "k")
        assert (shown.kind, shown.tool) == (kind, TOOLS[kind])
        assert shown.message
        assert not shown.message.endswith(".")
        assert shown.remedy
        assert shown.remedy.endswith(".")
        assert f"`{kind}`" in book


def test_an_access_out_of_bounds_names_array_and_element() -> None:
    text = message(of_b("out_of_bounds", 4 * 524))
    assert text == "thread (1, 0, 0) reads `B`[524], where `B` has 131 elements"
    assert "reads `B`[-4], where" in message(of_b("out_of_bounds", -16))
    wide = of_b("out_of_bounds", 4 * 128, size=16, action="write")
    assert "writes `B`[128 to 131], where `B` has 131 elements" in message(wide)
    matrix = of_b("out_of_bounds", 524, shape=(1, 131))
    assert "reads `B`[131], where `B` has 1 × 131 = 131 elements" in message(matrix)


@pytest.mark.parametrize(
    ("offset", "changes", "says"),
    [
        (532, {}, "reads 4 bytes of global memory 8 bytes behind the end of an allocation of 524 bytes"),
        (
            -1,
            {"size": 1},
            "reads 1 byte of global memory 1 byte before the start of an allocation of 524 bytes",
        ),
        (520, {"size": 8}, "at byte 520 of an allocation of 524 bytes, beyond its end"),
        (
            520,
            {"size": 8, "array": "weights"},
            "at byte 520 of `weights`, which has 524 bytes, beyond its end",
        ),
        (0, {"allocation": None}, f"reads 4 bytes of global memory at {BASE:#x}, where nothing is allocated"),
        (0, {"allocation": None, "instruction": "printf"}, "where nothing is allocated, in printf"),
        (0, {"space": "const", "allocation": None}, "of constant memory"),
        (0, {"space": "generic", "allocation": None}, "4 bytes of memory at"),
    ],
)
def test_an_access_to_what_has_no_type(offset: int, changes: dict[str, object], says: str) -> None:
    untyped = {"array": None, "element": None, "shape": None}
    assert says in message(of_b("out_of_bounds", offset, **(untyped | changes)))


def test_an_access_outside_of_shared_and_local_memory() -> None:
    small = of_tile("out_of_bounds", address=128, size=4, allocation=Allocation(0, 128))
    assert "reads 4 bytes of shared memory at byte 128, where the block has 128 bytes" in message(small)
    none = replace(small, allocation=Allocation(0, 0))
    assert "where the block has no bytes" in message(none)
    local = replace(small, space="local")
    assert "of local memory at byte 128, beyond its end" in message(local)


def test_an_address_that_is_not_aligned() -> None:
    says = "reads 16 bytes at `B`[1], address 0x700000100004, which is no multiple of 16"
    assert says in message(of_b("misaligned", 4, size=16))
    assert remedy(of_b("misaligned", 4, size=16)).startswith("A float4 needs")
    assert "a multiple of 4: take single elements" in remedy(of_b("misaligned", 2))


RACE = {"size": 4, "scope": "block"}


@pytest.mark.parametrize(
    ("other", "scope", "says"),
    [
        (
            Access("write", 6, FIRST, (32, 0, 0)),
            "block",
            "which thread (32, 0, 0) writes in line 6 with no __syncthreads() in between",
        ),
        (
            Access("write", None, FIRST, (0, 0, 0)),
            "warp",
            "which thread (0, 0, 0) writes with no __syncwarp() or __syncthreads() in between",
        ),
        (
            Access("read", 6, FIRST, (32, 0, 0), any_of_warp=True),
            "block",
            "which the warp of thread (32, 0, 0) reads too in line 6 with",
        ),
        (Access("write", 6, FIRST, None), "block", "which another thread of the block writes in line 6"),
    ],
)
def test_a_race_in_shared_memory_tells_both_accesses(other: Access, scope: str, says: str) -> None:
    text = message(of_tile("race", scope=scope, other=other))
    assert text.startswith("thread (1, 0, 0) reads shared memory at byte 132 (`tile`), ")
    assert says in text


@pytest.mark.parametrize("any_of_warp", [False, True])
def test_no_thread_races_with_itself(any_of_warp: bool) -> None:
    """Bookkeeping by warps may name the same first thread for both."""
    same = Access("write", 6, FIRST, SECOND, any_of_warp)
    assert "which another thread of its warp writes" in message(of_tile("race", scope="warp", other=same))
    broadcast = of_tile("race", scope="warp", any_of_warp=True, other=replace(same, any_of_warp=False))
    assert message(broadcast).startswith("another thread of the warp of thread (1, 0, 0) reads")


def test_who_raced_is_not_made_up() -> None:
    text = message(of_tile("race", scope="block"))
    assert "which another thread of the block accesses too with no __syncthreads() in between" in text
    text = message(of_tile("uninitialised_shared", any_of_warp=True))
    assert text.startswith(
        "the warp of thread (1, 0, 0) reads shared memory at byte 132 (`tile`), which no thread"
    )


def test_a_race_in_global_memory() -> None:
    block = Access("write", block=(2, 0, 0))
    of_blocks = of_b("race", 4 * 130, scope="grid", other=block, shape=(1, 131))
    assert message(of_blocks) == (
        "thread (1, 0, 0) of block (0, 0, 0) reads what block (2, 0, 0) has stored in `B`[0, 130]: blocks of a launch "
        "run at the same time, in any order"
    )
    unknown = replace(of_blocks, other=Access("write"))
    assert "reads what another block has stored" in message(unknown)
    fence = replace(of_blocks, blocks_wait=True)
    assert message(fence).endswith("and block (2, 0, 0) has executed no __threadfence() since")
    assert "__threadfence()" in remedy(fence)
    warp = Access("write", block=FIRST, thread=(32, 0, 0), any_of_warp=True)
    of_warps = replace(of_blocks, scope="block", other=warp, action="write", element=None)
    assert message(of_warps) == (
        "thread (1, 0, 0) overwrites what the warp of thread (32, 0, 0) has stored at byte 520 of `B`, with another "
        "value, with no __syncthreads() in between"
    )
    at_once = replace(of_warps, scope="warp")
    assert "overwrites what another thread of its warp stores at byte 520 of `B` at the same time" in message(
        at_once
    )


def test_who_adds_without_an_atomic_is_told_to_and_not_to_wait() -> None:
    for finding in (
        of_b("race", 0, scope="grid", accumulates=True),
        of_tile("race", scope="warp", accumulates=True),
    ):
        assert f"add with atomicAdd(&{finding.array}[…], …)." in remedy(finding)
        assert "__syncthreads" not in remedy(finding)
        assert "atomicAdd(&" not in remedy(replace(finding, accumulates=False))


def test_a_copy_that_has_not_arrived_tells_its_line() -> None:
    text = message(of_tile("unfinished_copy", other=Access("write", 5)))
    assert text.endswith("at byte 132 (`tile`) while the cp.async of line 5 to it has not arrived")
    assert "while a cp.async to it has" in message(of_tile("unfinished_copy"))


def test_what_warps_and_blocks_do_together() -> None:
    absent = Finding(
        "absent_lanes", 7, 1, FIRST, SECOND, other=Access(None, thread=FIRST), instruction="shfl.sync"
    )
    assert message(absent) == (
        "thread (0, 0, 0) executes shfl.sync with thread (1, 0, 0) in its mask, which is elsewhere"
    )
    part = Finding("barrier", 7, 1, FIRST)
    assert message(part).startswith("only some threads of a warp reach the barrier in line 7")
    assert "(lines 7 and 9)" in message(replace(part, other=Access(line=9)))
    assert "(two of them in line 7)" in message(replace(part, other=Access(line=7)))


def test_a_result_has_what_is_known() -> None:
    other = Access("write", 6, FIRST, (32, 0, 0))
    shown = result(of_b("race", 8, scope="block", other=other), "scale")
    assert (shown.kernel, shown.line, shown.block, shown.thread) == ("scale", 7, [0, 0, 0], [1, 0, 0])
    assert (shown.space, shown.action, shown.size, shown.scope) == ("global", "read", 4, "block")
    assert (shown.array, shown.element, shown.shape) == ("B", 2, [131])
    assert (shown.address, shown.offset, shown.allocation_bytes) == (BASE + 8, 8, 524)
    assert shown.other is not None
    assert (shown.other.action, shown.other.line, shown.other.thread) == ("write", 6, [32, 0, 0])
    trap = result(Finding("trap", 0, 1), "scale")
    assert (trap.line, trap.block, trap.thread, trap.offset, trap.other) == (None, None, None, None, None)


def test_every_field_of_a_result_is_in_the_book() -> None:
    book = BOOK.read_text("utf-8")
    for kind in (FindingResult, OtherAccess):
        assert [field.name for field in fields(kind) if f"`{field.name}`" not in book] == []


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZZ7dynamicE4tile", "tile"),
        ("_ZZ4gemmILi32EEvPKfS1_PfE6tile_a", "tile_a"),
        ("_ZZ4gemmILi32ELi8EEvPKfE4tile_0", "tile"),
        ("_ZN8settings7weightsE", None),
        ("weights", "weights"),
    ],
)
def test_names_of_variables_in_the_source(symbol: str, name: str | None) -> None:
    assert found_by_the_emulator.source_name(symbol) == name
