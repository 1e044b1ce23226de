"""PTX as it is written by hand and by NVIDIA's headers."""

from __future__ import annotations

import numpy as np
from emulated import Bench


def test_directives_need_no_blank_between_them(bench: Bench) -> None:
    """As in `.reg.b32`, which cuda_fp16.h writes (PTX ISA 4.3: a directive begins with a dot)."""
    text = """.visible .entry k(.param.u64 out)
    {
    .reg.b64 %at; .reg.b32 %r<2>; .shared.align 4 .b32 box;
    ld.param.u64 %at, [out]; mov.u32 %r1, 7; st.shared.u32 [box], %r1; ld.shared.u32 %r0, [box];
    { .reg.b32 t; add.u32 t, %r0, 1; st.global.u32 [%at], t; }
    ret;
    }"""
    assert bench.ptx(text, "k", 1, 1, np.zeros(1, np.uint32)).arrays[0][0] == 8


def test_a_function_that_cannot_be_read_is_passed_over(bench: Bench) -> None:
    text = """.func odd (.param .b32 x) { { .reg .v4 .f32 %v; } ret; }
    .visible .entry k(.param .u64 out)
    { .reg .b64 %at; ld.param.u64 %at, [out]; st.global.u32 [%at], 9; ret; }"""
    assert bench.ptx(text, "k", 1, 1, np.zeros(1, np.uint32)).arrays[0][0] == 9
