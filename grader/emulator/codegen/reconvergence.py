"""Reconvergence at bar.warp.sync, shfl.sync, vote.sync and the other *.sync instructions with a membermask.

Such an instruction waits until all lanes that its membermask names execute it (PTX ISA 9.7.13): a convergence barrier
(Diamos et al., "Execution of divergent threads using a convergence barrier", US patent application 2016/0019066), in
which the membermask says who participates. The lanes that arrive first are held in front of the instruction

* until the others arrive at the same instruction;
* or until no lane can run: all that are still awaited are then held as well, perhaps at a bar.warp.sync of their own
  branch;
* or until the lanes behind the region in which they were parted are to run: those must not overtake, because registers
  that are not contested (ptx/divergence.py) are then stored for all lanes, and what is still missing will not come.

The last two rules are this emulator's own. Lanes that are awaited in vain are told where they are named by a
bar.warp.sync, or by masks that differ from lane to lane; where one mask is for all, `check_present` does so.
"""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.pending import PendingMasks
from grader.emulator.codegen.values import I64, constant, is_vector
from grader.emulator.ptx.basic_blocks import Block
from grader.emulator.ptx.instructions import is_warp_barrier, membermask


class ReconvergencePoints:
    """The blocks of a kernel that begin with such an instruction, and the lanes held there."""

    def __init__(self, e: Emitter, pending: PendingMasks) -> None:
        self.e = e
        self.pending = pending
        self.limits = e.flow.reconvergence_points
        self.held = {block: self._variable(f"waiting{block}") for block in self.limits}
        self.released = self._variable("released")
        """Lanes that were held in vain and pass the next reconvergence point."""
        self.last_released = self._variable("last_released")
        """Those of the last time, whether they have passed since or not."""
        self.nearest = self._variable("nearest", e.block_count)
        """The lowest block that must not run while the present lanes are held."""
        self.release = e.new_block("release") if self.limits else None

    def _variable(self, name: str, value: int = 0) -> Any:
        slot = self.e.b.alloca(I64, name=name)
        self.e.b.store(I64(value), slot)
        return slot

    def enter(self, block: Block, dispatch: Any) -> None:
        """At the beginning of a block: goes on with all lanes that are there, or holds them and goes to `dispatch`."""
        if block.index not in self.limits:
            return
        e, b = self.e, self.e.b
        here = b.or_(e.mask, b.load(self.held[block.index]))
        live = e.live()
        missing = b.and_(b.and_(self._named(block, here), live), b.xor(here, I64(-1)))
        released = b.load(self.released)
        complete = b.icmp_unsigned("==", missing, I64(0))
        goes = b.or_(complete, b.icmp_unsigned("!=", b.and_(here, released), I64(0)))
        go, hold = e.new_block(), e.new_block()
        b.cbranch(goes, go, hold)
        b.position_at_end(hold)
        b.store(here, self.held[block.index])
        nearest = b.load(self.nearest)
        limit = I64(self.limits[block.index])
        b.store(b.select(b.icmp_unsigned("<", limit, nearest), limit, nearest), self.nearest)
        b.branch(dispatch)
        b.position_at_end(go)
        b.store(I64(0), self.held[block.index])
        b.store(b.and_(released, b.xor(here, I64(-1))), self.released)
        b.store(here, e.mask_slot)
        e.mask = here
        if not e.plan.may_spin:  # lanes that take turns may still come
            self._note_awaited(missing)

    def _note_awaited(self, missing: Any) -> None:
        """Notes lanes that are awaited in vain; at a bar.warp.sync not those that wait at another one."""
        e, b = self.e, self.e.b
        operand = membermask(e.inst)
        if is_warp_barrier(e.inst):
            missing = b.and_(missing, b.not_(b.load(self.last_released)))
        elif operand is None or e.is_uniform(operand):
            return
        with b.if_then(b.icmp_unsigned("!=", missing, I64(0)), likely=False):
            e.note_absent(b.and_(missing, e.staying()), e.mask)

    def _named(self, block: Block, here: Any) -> Any:
        """All lanes that the membermasks of the lanes `here` name."""
        e, b = self.e, self.e.b
        operand = membermask(block.instructions[0])
        assert operand is not None
        e.inst = block.instructions[0]
        named = e.read(operand, "b32", vector=not e.is_uniform(operand))
        if is_vector(named):
            named = e.reduce("llvm.vector.reduce.or", b.select(e.lanes(here), named, constant(named, 0)))
        return b.zext(named, I64)

    def unhindered(self, target: int, condition: Any) -> Any:
        """`condition`, and that no lanes are held that block `target` must not overtake."""
        if self.release is None:
            return condition
        b = self.e.b
        return b.and_(condition, b.icmp_unsigned("<", I64(target), b.load(self.nearest)))

    def before(self, index: Any) -> None:
        """In front of running block `index`: not while lanes are held that it must not overtake."""
        if self.release is None:
            return
        b = self.e.b
        go = self.e.new_block()
        b.cbranch(b.icmp_unsigned("<", index, b.load(self.nearest)), go, self.release)
        b.position_at_end(go)

    def when_idle(self) -> None:
        """Where no lane can run: lets those go on that are held, if any are."""
        if self.release is None:
            return
        b = self.e.b
        some: Any = I64(0)
        for slot in self.held.values():
            some = b.or_(some, b.load(slot))
        idle = self.e.new_block()
        b.cbranch(b.icmp_unsigned("==", some, I64(0)), idle, self.release)
        b.position_at_end(idle)

    def suspend(self) -> None:
        """Where the warp gives way to others: lanes that are held come to their reconvergence point anew afterwards."""
        for block, slot in self.held.items():
            self.pending.add(block, self.e.b.load(slot))

    def finish(self, dispatch: Any) -> None:
        """The code that releases all lanes that are held."""
        if self.release is None:
            return
        e, b = self.e, self.e.b
        b.position_at_end(self.release)
        released: Any = b.load(self.released)
        for block, slot in self.held.items():
            lanes = b.load(slot)
            self.pending.add(block, lanes)
            b.store(I64(0), slot)
            released = b.or_(released, lanes)
        b.store(released, self.released)
        b.store(released, self.last_released)
        b.store(I64(e.block_count), self.nearest)
        b.branch(dispatch)
