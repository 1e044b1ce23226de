"""benchmarks/register_banks.py and register_probe.py: registers by bank, and the patterns of the probe."""

from __future__ import annotations

from pathlib import Path

import pytest
import register_banks
import register_probe
from listings import disassembled

from grader.workbook import compiler

LISTING = """
.L_x_1:
        /*0100*/                   FFMA R21, R68, R168.reuse, R148 ;
        /*0110*/                   FFMA R23, R70, R168, R57 ;
        /*0120*/                   LDS.128 R8, [R2+0x10] ;
        /*0130*/              @!P0 FFMA R9, R5, R7, |R3| ;
        /*0140*/                   FFMA R9, R5, 2, R3 ;
.L_x_2:
        /*0150*/                   EXIT ;
"""


def test_an_operand_that_is_kept_is_read_from_no_bank() -> None:
    block = register_banks.busiest(LISTING)
    assert [(item.even, item.odd) for item in block] == [
        ((68, 168, 148), ()),
        ((70,), (57,)),
        ((), ()),
        ((), (5, 7, 3)),
        ((), (5, 3)),
    ]
    found = register_banks.count(block)
    assert (found.instructions, found.ffmas, found.even, found.odd) == (5, 4, 4, 6)
    assert found.clocks == 6


def test_a_loop_that_a_branch_cuts_in_two_is_counted_whole() -> None:
    """Without a block that has no FFMAs, and without the loop beside it."""
    block = register_banks.busiest(
        """
.L_x_1:
        /*0100*/                   FFMA R1, R2, R3, R1 ;
        /*0110*/                   FFMA R1, R2, R3, R1 ;
        /*0120*/              @!P0 BRA `(.L_x_2) ;
        /*0130*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_3:
        /*0140*/                   LDS.128 R8, [R2+0x10] ;
.L_x_2:
        /*0150*/                   FFMA R4, R5, R6, R4 ;
        /*0160*/               @P1 BRA `(.L_x_1) ;
.L_x_4:
        /*0170*/                   FFMA R4, R5, R6, R4 ;
        /*0180*/               @P1 BRA `(.L_x_4) ;
"""
    )
    assert [item.place for item in block] == [0x100, 0x110, 0x120, 0x130, 0x150, 0x160]


@pytest.mark.soak(area="judge")
def test_the_patterns_of_the_probe_read_what_their_names_say() -> None:
    source = register_probe.PROBE
    cubin = compiler.compile_source(
        source, file=Path("p.cu"), kernels=["probe"], arch=register_banks.ARCH
    ).cubin
    reads = {}
    for name, pattern in register_probe.PATTERNS.items():
        block = register_banks.busiest(disassembled(register_probe.patched(cubin, pattern)))
        found = register_banks.count(block)
        reads[name] = (round(found.even / found.ffmas, 2), round(found.odd / found.ffmas, 2))
    assert reads["none kept"] == (1.5, 1.5)
    assert reads["none kept, one bank"] == (3, 0)
    assert sum(reads["one kept, other banks"]) == pytest.approx(2, abs=0.02)
    assert sum(reads["one new in eight"]) == pytest.approx(2 + 1 / 8, abs=0.02)


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize("rung", ["10_operand_reuse", "11_even_shares"])
def test_an_order_that_keeps_operands_reads_fewer_registers_and_issues_hardly_more(rung: str) -> None:
    before, found = (
        register_banks.count(register_banks.compiled(register_banks.kernel_file("gemm", name)))
        for name in ("09_wide_tile", rung)
    )
    steps = found.ffmas / before.ffmas
    assert found.even < 0.95 * steps * before.even
    assert found.odd <= steps * before.odd
    assert found.instructions < 1.01 * steps * before.instructions
    assert found.rate > 1.05 * before.rate
