"""Where instructions stand: .file and .loc with inlined_at (PTX ISA 11.5), and calls that the emulator inlines."""

from __future__ import annotations

from grader.emulator.places import GIVEN, UNKNOWN, Place
from grader.emulator.ptx.calls.inline import inline_calls
from grader.emulator.ptx.parser import parse
from grader.emulator.ptx.tree import Instruction

TEXT = """
.version 8.0
.target sm_90
.address_size 64
.func f()
{
  .loc 2 40 1
  add.s32 %r1, %r1, 1;
  .loc 3 500 1
  add.s32 %r1, %r1, 2;
  ret;
}
.visible .entry k()
{
  .reg .b32 %r<9>;
  mov.b32 %r1, 0;
  .loc 1 10 3
  mov.b32 %r1, 1;
  .loc 2 20 5, function_name $x, inlined_at 1 10 3
  mov.b32 %r1, 2;
  .loc 2 30 7, function_name $y, inlined_at 2 20 5
  mov.b32 %r1, 3;
  .loc 1 11 3
  .loc 2 20 5, function_name $x, inlined_at 1 11 3
  .loc 2 30 7, function_name $y, inlined_at 2 20 5
  mov.b32 %r1, 4;
  .loc 3 500 1, function_name $z, inlined_at 2 30 7
  mov.b32 %r1, 5;
  .loc 1 12 3
  call f, ();
  ret;
}
.file 1 "/kernel.cu"
.file 2 "/home/me/tile.cuh"
.file 3 "/opt/venv/lib/python3.11/site-packages/nvidia/cu13/include/cooperative_groups.h"
"""
TILE = "/home/me/tile.cuh"


def places(opcode: str) -> list[Place]:
    module = parse(TEXT)
    body = inline_calls(module, module.functions["k"]).body
    return [item.place for item in body if isinstance(item, Instruction) and item.opcode == opcode]


def test_a_place_has_the_calls_that_led_there() -> None:
    first, second = (Place(TILE, 20, Place(GIVEN, line)) for line in (10, 11))
    inner = Place(TILE, 30, second)
    assert places("mov.b32") == [
        UNKNOWN,
        Place(GIVEN, 10),
        first,
        Place(TILE, 30, first),
        inner,
        inner,  # of a library's header: what calls it counts
    ]


def test_a_function_that_is_called_knows_its_call() -> None:
    call = Place(GIVEN, 12)
    assert places("add.s32") == [Place(TILE, 40, call), call]


COPIES = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
  .reg .b64 %rd<9>;
  .reg .b32 %r<9>;
  .loc 1 10 3
  .loc 2 20 5, function_name $x, inlined_at 1 10 3
  .loc 2 30 7, function_name $y, inlined_at 2 20 5
  add.s64 %rd1, %rd0, 4;
  add.s64 %rd4, %rd0, 8;
  mov.b64 %rd3, %rd0;
  .loc 1 11 3
  .loc 2 20 5, function_name $x, inlined_at 1 11 3
  .loc 2 30 7, function_name $y, inlined_at 2 20 5
  add.s64 %rd2, %rd0, 4;
  mov.b64 %rd3, %rd0;
  .loc 2 31 7, function_name $y, inlined_at 2 20 5
  ld.global.u32 %r1, [%rd1];
  ld.global.u32 %r2, [%rd2];
  ld.global.u32 %r3, [%rd3];
  ld.global.u32 %r4, [%rd4];
  ld.global.u32 %r5, [%rd4+4];
  .loc 3 500 1, function_name $z, inlined_at 2 31 7
  add.s32 %r6, %r1, 1;
  ret;
}
.file 1 "/kernel.cu"
.file 2 "/home/me/tile.cuh"
.file 3 "/opt/venv/lib/python3.11/site-packages/nvidia/cu13/include/cooperative_groups.h"
"""


def test_which_copy_of_an_inlined_call_it_is_operands_tell() -> None:
    """The compiler says it once for each copy, and then goes to and fro between them."""
    body = parse(COPIES).functions["k"].body
    loads = [item.place for item in body if isinstance(item, Instruction) and item.parts[0] == "ld"]
    first, second = (Place(TILE, 31, Place(TILE, 20, Place(GIVEN, line))) for line in (10, 11))
    joined = Place(TILE, 31, Place(TILE, 20))
    assert loads[:3] == [first, second, joined], "of one made of two copies, what they have in common"
    assert loads[3:] == [second, second], (
        "an address of several loads tells nothing: the copy that was named last"
    )
