"""PTX as it is shown, and the twin of it that counts by instruction."""

from __future__ import annotations

from grader.emulator.places import GIVEN, Place
from grader.emulator.ptx import listing
from grader.emulator.ptx.parser import parse
from grader.emulator.ptx.tree import Label

HELPER = Place("tiles.cuh", 5, Place(GIVEN, 11))
PTX = """.version 8.4
.target sm_90a
.address_size 64
.func helper() {
  .loc 1 3 1
  ret;
}
.visible .entry other() { ret; }
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  .loc 1 10 1
$L_top:
  mov.u32   %r1, %tid.x;
  .loc 2 5 1, function_name $L_name, inlined_at 1 11 3
  { .reg .b32 t; mov.u32 t, 1; add.u32 %r1, %r1, t; }
  setp.eq.u32
      %p1, %r1, 0;
$L_a:
$L_b:
  @%p1 bra $L_top;
  ret;
}
.file 1 "k.cu"
.file 2 "tiles.cuh"
"""


def test_a_kernel_s_instructions_have_their_line_their_labels_and_their_place() -> None:
    assert [(each.at, each.text, each.place) for each in listing.listed(PTX, "k")] == [
        ("6", "ret;", Place(GIVEN, 3)),
        ("15", "$L_top: mov.u32 %r1, %tid.x;", Place(GIVEN, 10)),
        ("17", "{ .reg .b32 t; mov.u32 t, 1; add.u32 %r1, %r1, t; }", HELPER),
        ("18", "setp.eq.u32 %p1, %r1, 0;", HELPER),
        ("22", "$L_a: $L_b: @%p1 bra $L_top;", HELPER),
        ("23", "ret;", HELPER),
    ]


def test_the_numbered_twin_is_the_same_program_with_places_that_are_lines() -> None:
    before, after = (parse(text).functions["k"].body for text in (PTX, listing.numbered(PTX)))
    assert len(before) == len(after) == 9
    for old, new in zip(before, after, strict=True):
        if isinstance(old, Label) or isinstance(new, Label):
            assert old == new
        else:
            assert (new.opcode, new.operands, new.predicate) == (old.opcode, old.operands, old.predicate)
            assert new.place == Place(GIVEN, old.ptx_line)
