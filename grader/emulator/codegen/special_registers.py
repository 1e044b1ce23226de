"""Special registers (PTX ISA 10): what a thread can ask about itself, its block and its device."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from grader.emulator.codegen.builder import FunctionBuilder
from grader.emulator.codegen.values import I32, I64
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import LANES

_FROM_CONTEXT = {
    "ctaid.x": layout.BLOCK_X, "ctaid.y": layout.BLOCK_Y, "ctaid.z": layout.BLOCK_Z,
    "nctaid.x": layout.GRID_X, "nctaid.y": layout.GRID_Y, "nctaid.z": layout.GRID_Z,
    "ntid.x": layout.BLOCK_DIM_X, "ntid.y": layout.BLOCK_DIM_Y, "ntid.z": layout.BLOCK_DIM_Z,
    "warpid": layout.WARP, "nwarpid": layout.WARPS, "nsmid": layout.SM_COUNT,
}  # fmt: skip
_LANE_MASKS = {
    "lanemask_eq": lambda lane: 1 << lane,
    "lanemask_lt": lambda lane: (1 << lane) - 1,
    "lanemask_le": lambda lane: (2 << lane) - 1,
    "lanemask_gt": lambda lane: ~((2 << lane) - 1) & 0xFFFFFFFF,
    "lanemask_ge": lambda lane: ~((1 << lane) - 1) & 0xFFFFFFFF,
}
_CLOCKS = ("clock", "clock64", "globaltimer", "clock_hi", "globaltimer_lo", "globaltimer_hi")


def read_special(e: FunctionBuilder, plan: KernelPlan, register: str) -> Any:
    """The value of %register: a vector for what differs between lanes, else a scalar (32 or 64 bits); None where the
    emulator does not have it."""
    name = register[1:]
    if name in _FROM_CONTEXT:
        return e.b.trunc(e.context_slot(_FROM_CONTEXT[name]), I32)
    if name in ("tid.x", "tid.y", "tid.z"):
        return _thread_index(e, "xyz".index(name[-1]), plan.rows_uniform)
    if name == "laneid":
        return _vector(range(LANES))
    if name in _LANE_MASKS:
        return _vector(_LANE_MASKS[name](lane) for lane in range(LANES))
    if name == "smid":
        return e.b.trunc(e.b.urem(e.context_slot(layout.BLOCK_LINEAR), e.context_slot(layout.SM_COUNT)), I32)
    if name in _CLOCKS:
        return _clock(e, name)
    if name == "dynamic_smem_size":
        dynamic = e.b.sub(e.context_slot(layout.SHARED_BYTES), I64(plan.static_shared_bytes))
        return e.b.trunc(dynamic, I32)
    if name == "total_smem_size":
        return e.b.trunc(e.context_slot(layout.SHARED_BYTES), I32)
    return None


def _vector(values: Any) -> Any:
    return ir.Constant(ir.VectorType(I32, LANES), [I32(value) for value in values])


def _thread_index(e: FunctionBuilder, axis: int, rows_uniform: bool) -> Any:
    """From the table of the launch: 3 × 32 int32 a warp."""
    row = e.b.mul(e.context_slot(layout.WARP), I64(3 * LANES * 4))
    address = e.b.add(e.b.add(e.context_slot(layout.TIDS), row), I64(axis * LANES * 4))
    if axis and rows_uniform:
        return e.b.load(e.at(address, I32))
    return e.load_vector(address, I32)


def _clock(e: FunctionBuilder, name: str) -> Any:
    """Instructions of the block so far: time in the emulator is what was executed, so that it is repeatable."""
    spent = e.b.sub(e.context_slot(layout.BLOCK_BUDGET), e.context_slot(layout.BUDGET))
    if name.endswith("_hi"):
        return e.b.trunc(e.b.lshr(spent, I64(32)), I32)
    return spent if name in ("clock64", "globaltimer") else e.b.trunc(spent, I32)
