"""The pending masks of a warp: for each basic block, the lanes that wait to run it."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen import ir
from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.values import I1, I32, I64, constant
from grader.emulator.ptx.basic_blocks import EXIT
from grader.emulator.runtime import layout


class PendingMasks:
    """A mask a block in the warp's state; a bit a block, in words on the stack, which says whether there are any lanes;
    and where these are several, a bit a word, which says whether it has any bits: so that the code of a jump does not
    grow with the kernel."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        b = e.b
        self.count = (e.block_count + 63) // 64
        self.words = b.alloca(ir.ArrayType(I64, self.count), name="pending")
        self.single = self.count == 1
        self.summary_type = ir.IntType(64 * -(-self.count // 64))
        self.summary = self._word(I32(0)) if self.single else b.alloca(self.summary_type, name="summary")
        b.store(self.summary_type(0), self.summary)
        for number in range(self.count):
            bits = self._some_pending(number * 64, min(e.block_count, number * 64 + 64))
            b.store(bits, self._word(I32(number)))
            self._note(b.icmp_unsigned("!=", bits, I64(0)), number)

    def _some_pending(self, first: int, end: int) -> Any:
        """A bit for each of up to 64 blocks: whether lanes are pending there when the warp's code begins."""
        e, b = self.e, self.e.b
        if end - first == 64:
            start = e.warp_address(layout.W_MASKS + first)
            masks = b.load(e.at(start, ir.VectorType(I64, 64)), align=8)
            return b.bitcast(b.icmp_unsigned("!=", masks, constant(masks, 0)), I64)
        bits: Any = I64(0)
        for index in range(first, end):
            some = b.icmp_unsigned("!=", b.load(e.mask_pointer(index)), I64(0))
            bits = b.or_(bits, b.shl(b.zext(some, I64), I64(index - first)))
        return bits

    def _word(self, number: Any) -> Any:
        return self.e.b.element(self.words, number)

    def _note(self, some: Any, number: int) -> None:
        """Sets a word's bit in the summary where it has `some`."""
        if self.single:
            return
        b = self.e.b
        bit = b.shl(b.zext(some, self.summary_type), self.summary_type(number))
        b.store(b.or_(b.load(self.summary), bit), self.summary)

    def none(self) -> Any:
        """Whether no lanes are pending anywhere."""
        return self.e.b.icmp_unsigned("==", self.e.b.load(self.summary), self.summary_type(0))

    def lowest(self) -> Any:
        """The lowest block with lanes pending, where there are any."""
        b = self.e.b
        number = self.e.intrinsic("llvm.cttz", b.load(self.summary), I1(0))
        if self.single:
            return number
        number = b.trunc(number, I32)
        inside = self.e.intrinsic("llvm.cttz", b.load(self._word(number)), I1(0))
        return b.add(b.shl(b.zext(number, I64), I64(6)), inside)

    def add(self, target: int, mask: Any) -> None:
        """Adds lanes to those pending in front of a block, or ends them (EXIT)."""
        e, b = self.e, self.e.b
        if target == EXIT:
            live = e.warp_pointer(layout.W_LIVE)
            b.store(b.and_(b.load(live), b.xor(mask, I64(-1))), live)
            return
        pointer = e.mask_pointer(target)
        b.store(b.or_(b.load(pointer), mask), pointer)
        some = b.icmp_unsigned("!=", mask, I64(0))
        word = self._word(I32(target // 64))
        b.store(b.or_(b.load(word), b.shl(b.zext(some, I64), I64(target % 64))), word)
        self._note(some, target // 64)

    def take(self, index: Any) -> None:
        """Makes the lanes pending in front of block `index` the current ones."""
        e, b = self.e, self.e.b
        number = b.trunc(b.lshr(index, I64(6)), I32)
        word = self._word(number)
        left = b.and_(b.load(word), b.not_(b.shl(I64(1), b.and_(index, I64(63)))))
        b.store(left, word)
        if not self.single:
            last = b.zext(b.icmp_unsigned("==", left, I64(0)), self.summary_type)
            bit = b.shl(last, b.zext(number, self.summary_type))
            b.store(b.and_(b.load(self.summary), b.not_(bit)), self.summary)
        pointer = e.at(b.add(e.warp, b.mul(b.add(index, I64(layout.W_MASKS)), I64(8))), I64)
        b.store(b.load(pointer), e.mask_slot)
        b.store(I64(0), pointer)
