"""The pending masks of a warp: for each basic block, the lanes that wait to run it."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.values import I64
from grader.emulator.ptx.basic_blocks import EXIT
from grader.emulator.runtime import layout


class PendingMasks:
    """A mask a block in the warp's state, and a bit a block in `Emitter.pending`, which says whether there are any."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        self.words = e.pending
        b = e.b
        for number, word in enumerate(self.words):
            bits: Any = I64(0)
            for index in range(number * 64, min(e.block_count, number * 64 + 64)):
                some = b.icmp_unsigned("!=", b.load(e.mask_pointer(index)), I64(0))
                bits = b.or_(bits, b.shl(b.zext(some, I64), I64(index - number * 64)))
            b.store(bits, word)

    def add(self, target: int, mask: Any) -> None:
        """Adds lanes to those pending in front of a block, or ends them (EXIT)."""
        e, b = self.e, self.e.b
        if target == EXIT:
            live = e.warp_pointer(layout.W_LIVE)
            b.store(b.and_(b.load(live), b.xor(mask, I64(-1))), live)
            return
        pointer = e.mask_pointer(target)
        b.store(b.or_(b.load(pointer), mask), pointer)
        word = self.words[target // 64]
        some = b.zext(b.icmp_unsigned("!=", mask, I64(0)), I64)
        b.store(b.or_(b.load(word), b.shl(some, I64(target % 64))), word)

    def take(self, index: Any) -> None:
        """Makes the lanes pending in front of block `index` the current ones."""
        e, b = self.e, self.e.b
        bit = b.shl(I64(1), b.and_(index, I64(63)))
        for number, word in enumerate(self.words):
            here = b.icmp_unsigned("==", b.lshr(index, I64(6)), I64(number))
            b.store(b.and_(b.load(word), b.select(here, b.not_(bit), I64(-1))), word)
        slot = b.add(e.warp, b.mul(b.add(index, I64(layout.W_MASKS)), I64(8)))
        pointer = e.at(slot, I64)
        b.store(b.load(pointer), e.mask_slot)
        b.store(I64(0), pointer)
