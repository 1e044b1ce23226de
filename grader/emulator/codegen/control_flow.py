"""Control flow of a warp whose lanes may diverge: which lanes run which basic block next.

Each block has a mask of lanes that are pending in front of it, and the lowest block with lanes pending runs next.
Blocks are numbered along the control flow graph (ptx/order.py), so this is the min-PC rule of stack-less SIMT
(Collange, "Stack-less SIMT reconvergence at low cost", 2011), taken block by block, with calls inlined, and whatever
the layout of the code. In the words of Diamos et al., "SIMD re-convergence at thread frontiers" (MICRO 2011), a block's
priority is its number, and the other blocks with lanes pending lie in the thread frontier of the one that runs. Lanes
that a branch parts so reconverge at its immediate postdominator; reconvergence.py has what else makes them reconverge.
While all lanes are together, blocks jump to each other directly.

Where a lane may spin until another of its warp goes on, that rule would hang: in such kernels every 64th choice takes
turns, and a loop gives way to the other warps of its block from time to time.
"""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.barriers import BarrierBuilder
from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.clusters import wait_for_cluster
from grader.emulator.codegen.ops.tensor.wgmma import warpgroup_is_ready
from grader.emulator.codegen.ops.transactions import wait_for_phase
from grader.emulator.codegen.pending import PendingMasks
from grader.emulator.codegen.reconvergence import ReconvergencePoints
from grader.emulator.codegen.values import I32, I64, is_vector
from grader.emulator.ptx.basic_blocks import EXIT, Block
from grader.emulator.runtime import layout

TURN = 1 << 14
"""Warp instructions that a spinning warp executes before others of its block get their turn."""

POLLS = 1 << 4
"""The same where it does nothing but look whether another has come: as a thread on a GPU, which waits for the load of
each look for hundreds of cycles, it looks a few times while the others work."""

LOOKS = 1 << 62
"""The bit of W_SPIN that tells that a poll gave way when its lanes came by. Next time they look, whatever the other
lanes of the warp have executed in between: else lanes that spin beside them would keep them from it for ever."""


class ControlFlowBuilder:
    """The code at the beginning and the end of each basic block, and that between blocks."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        self.b = e.b
        self.pending = PendingMasks(e)
        self.reconvergence = ReconvergencePoints(e, self.pending)
        self.barriers = BarrierBuilder(e, self.pending, self.reconvergence)
        self.budget_at_entry = self.b.alloca(I64, name="budget")
        self.b.store(e.context_slot(layout.BUDGET), self.budget_at_entry)
        self.bodies = [e.new_block(f"block{block.index}") for block in e.flow.blocks]
        self.dispatch = e.new_block("dispatch")
        self.b.branch(self.dispatch)
        self.queues: dict[int, Any] = {}
        """Block → code that makes the current lanes pending there."""

    # -- the beginning of a block -----------------------------------------------------------------------------
    def begin(self, block: Block) -> None:
        """Where a block begins: who runs it, and that it is counted."""
        self.e.begin_block(self.bodies[block.index])
        if self.e.plan.may_spin and block.index in self.e.flow.loop_heads:
            self._give_way(block)
        if block.index in self.e.flow.preemption_points:
            self._let_others_run(block)
        self.reconvergence.enter(block, self.dispatch)
        self.barriers.begin(block)
        if block.index in self.e.flow.wait_points:
            self._wait(block)
        self._count(block)

    def _give_way(self, block: Block) -> None:
        """At the head of a loop: other warps run from time to time; the lanes come back to this place."""
        e, b = self.e, self.b
        spin = e.warp_pointer(layout.W_SPIN)
        together = b.icmp_unsigned("==", e.mask, e.live())
        spins = b.select(together, I64(0), b.load(spin))
        b.store(spins, spin)
        spent = b.sub(b.load(self.budget_at_entry), e.context_slot(layout.BUDGET))
        if block.index in e.flow.polls:
            with b.if_then(b.icmp_signed(">", spent, I64(POLLS)), likely=False):
                b.store(b.xor(spins, I64(LOOKS)), spin)
                with b.if_then(b.icmp_unsigned("==", b.and_(spins, I64(LOOKS)), I64(0)), likely=False):
                    self._suspend(block)
            return
        turn = layout.SHORT_TURN if e.plan.blocks_wait else TURN
        with b.if_then(b.icmp_signed(">", spent, I64(turn)), likely=False):
            self._goes_on(block)
            self._suspend(block)

    def _let_others_run(self, block: Block) -> None:
        """In front of an access that other blocks see: they have a turn where the scheduler wants it."""
        e, b = self.e, self.b
        patience = e.warp_pointer(layout.W_PATIENCE)
        left = b.sub(b.load(patience), I64(1))
        with b.if_then(b.icmp_signed("<", left, I64(0)), likely=False):
            self._goes_on(block)
            self._suspend(block)
        b.store(left, patience)

    def _goes_on(self, block: Block) -> None:
        """A warp that gives way outside of loops in which it may wait for another comes to its end, or spends its
        block's budget."""
        if block.index not in self.e.plan.waiting:
            self.e.add_to(self.e.context_pointer(layout.ADVANCED), I64(1))

    def _wait(self, block: Block) -> None:
        """In front of an mbarrier.try_wait: its lanes go on when the phase is complete, or the wait times out. The same
        for a barrier.cluster.wait, which has no end of its own.

        In front of a wgmma.wait_group: the warp goes on when the others of its warpgroup have come as far.
        """
        e, b = self.e, self.b
        e.begin(block.instructions[0])
        if block.instructions[0].parts[0] == "wgmma":
            with b.if_then(b.icmp_unsigned("==", warpgroup_is_ready(e), I64(0)), likely=False):
                self._suspend(block)
            return
        wait = wait_for_cluster if block.instructions[0].parts[0] == "barrier" else wait_for_phase
        go = e.new_block()
        b.cbranch(b.icmp_unsigned("!=", wait(e, block.index), I64(0)), go, self.dispatch)
        b.position_at_end(go)

    def _suspend(self, block: Block) -> None:
        """Leaves the warp's code; the lanes come back to the beginning of this block."""
        self.pending.add(block.index, self.e.mask)
        self.reconvergence.suspend()
        self.b.ret(I64(layout.RUNNING))

    def _count(self, block: Block) -> None:
        """Counts the block and its lanes, and takes its instructions off the budget."""
        e, b = self.e, self.b
        base = b.add(e.counts_base, I64(block.index * 16))
        e.add_to(e.at(base, I64), I64(1))
        e.add_to(e.at(b.add(base, I64(8)), I64), e.intrinsic("llvm.ctpop", e.mask))
        budget = e.context_pointer(layout.BUDGET)
        count = len(block.instructions) + (block.terminator is not None)
        left = b.sub(b.load(budget), I64(max(count, 1)))
        b.store(left, budget)
        if block.index in e.flow.loop_heads:
            with b.if_then(b.icmp_signed("<", left, I64(0)), likely=False):
                b.ret(I64(layout.BUDGET_SPENT))

    # -- the end of a block -----------------------------------------------------------------------------------
    def end(self, block: Block) -> None:
        """Where a block ends: where its lanes go."""
        end = block.terminator
        if end is not None:
            self.e.begin(end)
        name = end.parts[0] if end else "bra"
        if name in ("bar", "barrier"):
            self.barriers.end(block, self.dispatch)
        elif name == "brx":
            self._switch(block)
        elif name == "trap":
            self._trap(block)
        elif end is None or end.predicate is None:
            self._go(block.successors[0])
        else:
            self._branch(block.successors[0], block.successors[1])

    def _branch(self, taken: int, fall: int) -> None:
        e, b = self.e, self.b
        if not is_vector(e.guard):
            with b.if_else(e.guard) as (then, otherwise):
                with then:
                    self._go(taken)
                with otherwise:
                    self._go(fall)
            b.unreachable()
            return
        go = b.and_(e.mask, e.bits(e.guard))
        stay = b.and_(e.mask, b.xor(go, I64(-1)))
        all_stay, some_go, all_go, split = (e.new_block() for _ in range(4))
        b.cbranch(b.icmp_unsigned("==", go, I64(0)), all_stay, some_go)
        b.position_at_end(all_stay)
        self._go(fall)
        b.position_at_end(some_go)
        b.cbranch(b.icmp_unsigned("==", stay, I64(0)), all_go, split)
        b.position_at_end(all_go)
        self._go(taken)
        b.position_at_end(split)
        self.pending.add(taken, go)
        self.pending.add(fall, stay)
        b.branch(self.dispatch)

    def _switch(self, block: Block) -> None:
        e, b = self.e, self.b
        index = e.read(0, "u32", vector=True)
        last = len(block.successors) - 1
        for number, target in enumerate(block.successors):
            # An index beyond the table is undefined in PTX; the last target takes it, so that no lane is lost.
            compare = ">=" if number == last else "=="
            hit = b.icmp_unsigned(compare, index, e.splat(I32(number)))
            self.pending.add(target, b.and_(e.mask, e.bits(hit)))
        b.branch(self.dispatch)

    def _trap(self, block: Block) -> None:
        e, b = self.e, self.b
        if e.guard is None:
            b.ret(I64(layout.TRAPPED))
            return
        with b.if_then(b.icmp_unsigned("!=", e.active_mask(), I64(0)), likely=False):
            b.ret(I64(layout.TRAPPED))
        self._go(block.successors[1])

    def _go(self, target: int) -> None:
        """All lanes of the block continue at `target`: at once, if none are pending elsewhere."""
        b = self.b
        if target == EXIT:
            b.branch(self._queue(EXIT))
            return
        together = self.reconvergence.unhindered(target, self.pending.none())
        b.cbranch(together, self.bodies[target], self._queue(target))

    def _queue(self, target: int) -> Any:
        """Code that makes the current lanes pending in front of a block (or ends them) and picks what runs next."""
        if target not in self.queues:
            here = self.b.block
            queue = self.queues[target] = self.e.new_block(f"queue{target}")
            self.b.position_at_end(queue)
            self.pending.add(target, self.b.load(self.e.mask_slot))
            self.b.branch(self.dispatch)
            self.b.position_at_end(here)
        return self.queues[target]

    # -- between blocks ---------------------------------------------------------------------------------------
    def finish(self) -> None:
        """Picks the lowest block with lanes pending; without any, the warp is done or waits at a barrier."""
        e, b = self.e, self.b
        b.position_at_end(self.dispatch)
        chosen = e.b.alloca(I64)
        run = e.new_block("run")
        if e.plan.may_spin:
            self._take_turns(chosen, run)
        some, idle = e.new_block(), e.new_block()
        b.cbranch(self.pending.none(), idle, some)
        b.position_at_end(some)
        b.store(self.pending.lowest(), chosen)
        b.branch(run)
        b.position_at_end(idle)
        if e.flow.wait_points:
            self._leave_waiting()
        self.reconvergence.when_idle()
        done = b.icmp_unsigned("==", e.live(), I64(0))
        b.ret(b.select(done, I64(layout.DONE), I64(layout.WAITING)))
        b.position_at_end(run)
        self._run(b.load(chosen))
        self.reconvergence.finish(self.dispatch)

    def _leave_waiting(self) -> None:
        """Where no lane can run and some wait for a phase: those that wait for them do so until they come."""
        b = self.b
        leave, go = self.e.new_block(), self.e.new_block()
        held = b.load(self.e.warp_pointer(layout.W_HELD))
        b.cbranch(b.icmp_unsigned("!=", held, I64(0)), leave, go)
        b.position_at_end(leave)
        self.reconvergence.suspend()
        b.ret(I64(layout.WAITING))
        b.position_at_end(go)

    def _take_turns(self, chosen: Any, run: Any) -> None:
        """Every 64th time another block than the lowest, so that all get on."""
        e, b = self.e, self.b
        spin = e.warp_pointer(layout.W_SPIN)
        count = b.add(b.load(spin), I64(1))
        b.store(count, spin)
        due = b.icmp_unsigned("==", b.and_(count, I64(63)), I64(0))
        turn, lowest = e.new_block(), e.new_block()
        b.cbranch(b.and_(due, b.not_(self.pending.none())), turn, lowest)
        b.position_at_end(turn)
        b.store(e.call("next_turn", e.warp, I64(e.block_count)), chosen)
        b.branch(run)
        b.position_at_end(lowest)

    def _run(self, index: Any) -> None:
        """Runs block `index` with the lanes pending there."""
        self.reconvergence.before(index)
        self.pending.take(index)
        unreachable = self.e.new_block()
        self.b.switch(index, unreachable, self.bodies)
        self.b.position_at_end(unreachable)
        self.b.unreachable()
