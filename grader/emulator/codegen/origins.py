"""Where arithmetic first makes an infinity and a NaN, of numbers that are none: see `KernelPlan.watched`.

Only code that is generated for this looks, since it takes a comparison more for each result.
"""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.half import to_float
from grader.emulator.codegen.values import F64, I1, I16, I32, I64, constant, shaped
from grader.emulator.ptx.tree import Instruction, Operand
from grader.emulator.runtime import layout


class Origins:
    """Notes the first results that are infinite and those that are NaN while no operand is."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        self.number_of = {id(inst): number for number, inst in enumerate(e.plan.watched or ())}
        self.operands: list[list[Any]] = []

    def begin_block(self) -> None:
        """Nothing is kept from block to block."""

    def begin(self, inst: Instruction) -> None:
        """Before an instruction, which may write one of its operands: what they are."""
        if id(inst) not in self.number_of:
            return
        numbers = [self._numbers(operand, inst.parts[-1]) for operand in inst.operands[1:]]
        if inst.parts[0] == "cvt" and len(numbers) == 2:  # two singles into a pair, the high one first
            self.operands = [[single] for (single,) in reversed(numbers)]
        else:
            self.operands = [list(column) for column in zip(*numbers, strict=True)]

    def end(self, inst: Instruction) -> None:
        """After it: whether a result is what none of its operands is."""
        if id(inst) not in self.number_of:
            return
        e, b = self.e, self.e.b
        kind = inst.parts[-2] if inst.parts[0] == "cvt" else inst.parts[-1]
        active = e.active_mask()
        for result, operands in zip(self._numbers(inst.operands[0], kind), self.operands, strict=True):
            is_nan = b.fcmp_unordered("uno", result, result)
            is_infinite = b.fcmp_ordered(
                "==", e.intrinsic("llvm.fabs", result), constant(result, float("inf"))
            )
            for value in operands:
                is_nan = b.and_(is_nan, b.fcmp_ordered("ord", value, value))
                finite = b.fcmp_ordered("<", e.intrinsic("llvm.fabs", value), constant(value, float("inf")))
                is_infinite = b.and_(is_infinite, finite)
            self._note(layout.FIRST_NAN, b.and_(e.bits(is_nan), active), operands)
            self._note(layout.FIRST_INFINITY, b.and_(e.bits(is_infinite), active), operands)

    def store(self, block: Any) -> None:
        """Nothing outlives a block."""

    def _numbers(self, operand: Operand, kind: str) -> list[Any]:
        """The numbers of an operand as vectors, of halves as singles: two of a pair, the low one first."""
        e, b = self.e, self.e.b
        value = e.read(operand, kind, vector=True)
        if kind.endswith("x2"):
            high = b.lshr(value, constant(value, 16))
            return [to_float(e, b.trunc(half, shaped(I16, value)), kind) for half in (value, high)]
        return [to_float(e, value, kind) if kind.endswith("16") else value]

    def _note(self, slot: int, lanes: Any, operands: list[Any]) -> None:
        """Keeps the first of a launch: which instruction, block and thread, and its operands as doubles."""
        e, b = self.e, self.e.b
        with b.if_then(b.icmp_unsigned("!=", lanes, I64(0)), likely=False):
            place = b.add(e.context_slot(layout.ORIGINS), I64(slot * layout.ORIGIN_SLOTS * 8))

            def field(number: int) -> Any:
                return e.at(b.add(place, I64(number * 8)), I64)

            nothing = b.icmp_unsigned("==", b.load(field(layout.ORIGIN_INSTRUCTION)), I64(0))
            with b.if_then(nothing):
                lane = e.intrinsic("llvm.cttz", lanes, I1(0))
                thread = b.add(b.mul(e.context_slot(layout.WARP), I64(layout.LANES)), lane)
                b.store(I64(self.number_of[id(e.inst)] + 1), field(layout.ORIGIN_INSTRUCTION))
                b.store(e.context_slot(layout.BLOCK_LINEAR), field(layout.ORIGIN_BLOCK))
                b.store(thread, field(layout.ORIGIN_THREAD))
                for number, value in enumerate(operands):
                    one = b.extract_element(value, b.trunc(lane, I32))
                    wide = one if one.type == F64 else b.fpext(one, F64)
                    b.store(b.bitcast(wide, I64), field(layout.ORIGIN_OPERANDS + number))
