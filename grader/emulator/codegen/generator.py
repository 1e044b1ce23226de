"""Generates the code of a kernel: one LLVM function that runs one warp until it ends or waits at a barrier."""

from __future__ import annotations

from grader.emulator.codegen.control_flow import ControlFlowBuilder
from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops import handle
from grader.emulator.codegen.origins import Origins
from grader.emulator.codegen.undefined import UndefinedLanes
from grader.emulator.codegen.unfinished import UnfinishedProducts
from grader.emulator.codegen.values import I64
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.ptx.tree import Instruction

MOST_TOGETHER = 1000
"""Instructions of PTX in one block of LLVM's, for which LLVM takes time that grows with their square."""

Watch = UndefinedLanes | UnfinishedProducts | Origins


def generate(plan: KernelPlan) -> str:
    """The LLVM module, as text, with the function `builder.KERNEL_SYMBOL`.

    Raises UnsupportedPtx for instructions the emulator does not know.
    """
    e = Emitter(plan)
    control_flow = ControlFlowBuilder(e)
    watched: list[Watch] = [UndefinedLanes(e), UnfinishedProducts(e), *([Origins(e)] if plan.watched else [])]
    for block in plan.flow.blocks:
        control_flow.begin(block)
        for one in watched:
            one.begin_block()
        for number, inst in enumerate(block.instructions):
            if number and number % MOST_TOGETHER == 0:
                e.continue_in_new_block()
            _instruction(e, watched, inst)
        if block.terminator:
            e.begin(block.terminator)
            watched[0].begin(block.terminator)
        e.store_registers(block)
        for one in watched:
            one.store(block)
        control_flow.end(block)
    control_flow.finish()
    return str(e.module)


def _instruction(e: Emitter, watched: list[Watch], inst: Instruction) -> None:
    """One instruction; under a guard, the lanes that execute it are counted."""
    e.begin(inst)
    if e.guard is not None:
        counter = e.at(e.b.add(e.lane_counts_base, I64(e.plan.guarded[id(inst)] * 8)), I64)
        e.add_to(counter, e.intrinsic("llvm.ctpop", e.active_mask()))
    for one in watched:
        one.begin(inst)
    handle(e, inst)
    for one in watched:
        one.end(inst)
