"""The block's barriers: bar.sync, bar.red, bar.arrive and their spellings as barrier{.cta} (PTX ISA 9.7.13.1).

Lanes that arrive are held in front of the block behind the barrier while others of their warp run on towards it; the
scheduler lets them go (runtime/barriers.py). Lanes of a warp that get past a barrier while others wait there are noted
where both would have reconverged.
"""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.pending import PendingMasks
from grader.emulator.codegen.reconvergence import ReconvergencePoints
from grader.emulator.codegen.values import I1, I64, is_vector
from grader.emulator.ptx.basic_blocks import Block
from grader.emulator.ptx.instructions import is_aligned
from grader.emulator.ptx.tree import Operand
from grader.emulator.runtime import layout

_KNOWN = frozenset(("cta", "aligned", "sync", "arrive", "red", "popc", "and", "or", "u32", "pred"))


class BarrierBuilder:
    """The code at the end of blocks that end with a barrier, and at the beginning of those behind its branch."""

    def __init__(self, e: Emitter, pending: PendingMasks, reconvergence: ReconvergencePoints) -> None:
        self.e = e
        self.pending = pending
        self.reconvergence = reconvergence

    def begin(self, block: Block) -> None:
        """Where lanes come to `block` that should have come to a barrier first, if others wait there."""
        e, b = self.e, self.e.b
        for behind in self.e.flow.bypassed.get(block.index, ()):
            held = b.load(e.mask_pointer(behind, at_barrier=True))
            with b.if_then(b.icmp_unsigned("!=", held, I64(0)), likely=False):
                e.call("pass_by", e.warp, I64(behind), e.mask)

    def end(self, block: Block, dispatch: Any) -> None:
        """The barrier at the end of a block; operands are its number, then how many threads it is for, then a vote."""
        e, b = self.e, self.e.b
        inst = e.inst
        behind = block.successors[0]
        if not _KNOWN.issuperset(inst.parts[1:]):
            raise e.unsupported()
        operands = list(inst.operands)
        votes = b.and_(e.mask, e.bits(e.read(operands.pop(), "pred"))) if "red" in inst.parts else I64(0)
        number, expected = (self._number(operand) for operand in (*operands, None)[:2])
        arrives = "arrive" in inst.parts
        how = (layout.ALIGNED if is_aligned(inst) else 0) | (layout.ARRIVES if arrives else 0)
        e.call("arrive_at", e.context, e.warp, I64(behind), number, expected, e.mask, I64(how), votes)
        if not arrives:
            b.branch(dispatch)
            return
        self.pending.add(behind, e.mask)
        self.reconvergence.suspend()
        b.ret(I64(layout.RUNNING))

    def _number(self, operand: Operand | None) -> Any:
        """An operand that all lanes share, from the first of them; 0 where there is none."""
        e, b = self.e, self.e.b
        if operand is None:
            return I64(0)
        value = e.read(operand, "u32", vector=not e.is_uniform(operand))
        if is_vector(value):
            value = b.extract_element(value, e.intrinsic("llvm.cttz", e.mask, I1(1)))
        return b.sext(value, I64)
