"""What nvdisasm says, read: tests that need the program itself are those of `ladder read`'s listings."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

from grader.emulator.nvrtc import disassembly
from grader.emulator.places import GIVEN, UNKNOWN, Place

LIBRARY = "/home/me/lib/python3.11/site-packages/nvidia/cu13/include/crt/mma.hpp"
TEXT = f"""\t.section\t.text.other,"ax",@progbits
.text.other:
        /*0000*/                   EXIT ;
\t.section\t.text.k,"ax",@progbits
k:
.text.k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "/k.cu", line 12
        /*0010*/                   S2R R4, SR_CTAID.X ;
.L_x_1:
\t//## File "{LIBRARY}", line 99 inlined at "tiles.cuh", line 5
\t//## File "tiles.cuh", line 5 inlined at "/k.cu", line 13
\t//## File "/k.cu", line 13
        /*0020*/              @!P0 LDG.E R9,   desc[UR6][R6.64] ;
        /*0030*/               @P1 BRA `(.L_x_1) ;
\t//## File "/k.cu", line 14
        /*0040*/                   EXIT ;
.L_x_2:
        /*0050*/                   BRA `(.L_x_2);
        /*0060*/                   NOP;
"""


def test_instructions_have_their_address_their_labels_and_their_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(disassembly, "disassembled", lambda cubin, *options: TEXT)
    inlined = Place("tiles.cuh", 5, Place(GIVEN, 13))
    assert [(each.at, each.text, each.place) for each in disassembly.listed(b"", "k", "k.cu")] == [
        ("0000", "LDC R1, c[0x0][0x28]", UNKNOWN),
        ("0010", "S2R R4, SR_CTAID.X", Place(GIVEN, 12)),
        ("0020", ".L_x_1: @!P0 LDG.E R9, desc[UR6][R6.64]", inlined),
        ("0030", "@P1 BRA `(.L_x_1)", inlined),
        ("0040", "EXIT", Place(GIVEN, 14)),
    ]


def test_the_wheel_s_program_is_taken_before_the_path_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    assert disassembly.nvdisasm() == "/bin/nvdisasm"
    wheel = tmp_path / "nvidia" / "cu13" / "bin" / "nvdisasm"
    wheel.parent.mkdir(parents=True)
    wheel.touch()
    assert disassembly.nvdisasm() == str(wheel)


def test_without_the_program_nothing_is_disassembled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(disassembly.NvdisasmNotFound, match="nvdisasm is not installed"):
        disassembly.disassembled(b"")
