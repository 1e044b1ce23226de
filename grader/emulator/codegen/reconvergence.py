"""Generates the code by which lanes of a warp wait for each other at shfl.sync, vote.sync, bar.warp.sync and the like.

Such an instruction names the lanes that take part. Where lanes parted before, those that arrive first wait in front of
it: for the others to arrive at the same instruction, or else until no lane can run (then all that still come are
waiting somewhere, perhaps at a __syncwarp() of their own branch), or until the lanes behind the region in which they
parted are to run: those must not overtake (see cfg.py), and whoever is still missing then will not come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.emulator.codegen.values import I64, constant, is_vector
from grader.emulator.ptx.basic_blocks import Block
from grader.emulator.ptx.instructions import membermask
from grader.emulator.runtime import layout

if TYPE_CHECKING:
    from grader.emulator.codegen.emitter import Emitter


class Reconvergence:
    """The meeting points of a kernel (blocks that begin with such an instruction), and who waits there."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        self.limits = e.flow.reconvergence_points
        self.waiting = {block: self._variable(f"meeting{block}") for block in self.limits}
        self.released = self._variable("released")
        """Lanes that have waited in vain and pass the next meeting point."""
        self.nearest = self._variable("nearest", len(e.flow.blocks))
        """The lowest block that must not run while the present lanes wait."""
        self.release = e.function.append_basic_block("release") if self.limits else None

    def _variable(self, name: str, value: int = 0) -> Any:
        slot = self.e.b.alloca(I64, name=name)
        self.e.b.store(I64(value), slot)
        return slot

    def enter(self, block: Block) -> None:
        """At the beginning of a block: goes on with all lanes that are there, or waits and runs something else."""
        if block.index not in self.limits:
            return
        e, b = self.e, self.e.b
        here = b.or_(e.mask, b.load(self.waiting[block.index]))
        live = b.load(e.warp_pointer(layout.W_LIVE))
        missing = b.and_(b.and_(self._named(block, here), live), b.xor(here, I64(-1)))
        released = b.load(self.released)
        complete = b.icmp_unsigned("==", missing, I64(0))
        goes = b.or_(complete, b.icmp_unsigned("!=", b.and_(here, released), I64(0)))
        go, wait = e.function.append_basic_block(), e.function.append_basic_block()
        b.cbranch(goes, go, wait)
        b.position_at_end(wait)
        b.store(here, self.waiting[block.index])
        nearest = b.load(self.nearest)
        limit = I64(self.limits[block.index])
        b.store(b.select(b.icmp_unsigned("<", limit, nearest), limit, nearest), self.nearest)
        b.branch(e.dispatch)
        b.position_at_end(go)
        b.store(I64(0), self.waiting[block.index])
        b.store(b.and_(released, b.xor(here, I64(-1))), self.released)
        b.store(here, e.mask_slot)
        e.mask = here

    def _named(self, block: Block, here: Any) -> Any:
        """All lanes that some lane of `here` waits for."""
        e, b = self.e, self.e.b
        operand = membermask(block.instructions[0])
        assert operand is not None
        e.inst = block.instructions[0]
        named = e.read(operand, "b32", vector=not e.is_uniform(operand))
        if is_vector(named):
            named = e.reduce("llvm.vector.reduce.or", b.select(e.lanes(here), named, constant(named, 0)))
        return b.zext(named, I64)

    def unhindered(self, target: int, condition: Any) -> Any:
        """`condition`, and that nobody waits whom block `target` must not overtake."""
        if self.release is None:
            return condition
        b = self.e.b
        return b.and_(condition, b.icmp_unsigned("<", I64(target), b.load(self.nearest)))

    def before(self, index: Any) -> None:
        """In front of running block `index`: not while lanes wait that it must not overtake."""
        if self.release is None:
            return
        b = self.e.b
        go = self.e.function.append_basic_block()
        b.cbranch(b.icmp_unsigned("<", index, b.load(self.nearest)), go, self.release)
        b.position_at_end(go)

    def when_idle(self) -> None:
        """Where no lane can run: lets those go on that wait at a meeting point, if any do."""
        if self.release is None:
            return
        b = self.e.b
        anybody: Any = I64(0)
        for slot in self.waiting.values():
            anybody = b.or_(anybody, b.load(slot))
        idle = self.e.function.append_basic_block()
        b.cbranch(b.icmp_unsigned("==", anybody, I64(0)), idle, self.release)
        b.position_at_end(idle)

    def suspend(self) -> None:
        """Where the warp gives way to others: those who wait come to their meeting point anew afterwards."""
        for block, slot in self.waiting.items():
            self.e.queue(block, self.e.b.load(slot))

    def finish(self) -> None:
        """The code that releases everybody."""
        if self.release is None:
            return
        e, b = self.e, self.e.b
        b.position_at_end(self.release)
        everybody: Any = b.load(self.released)
        for block, slot in self.waiting.items():
            lanes = b.load(slot)
            e.queue(block, lanes)
            b.store(I64(0), slot)
            everybody = b.or_(everybody, lanes)
        b.store(everybody, self.released)
        b.store(I64(len(e.flow.blocks)), self.nearest)
        b.branch(e.dispatch)
