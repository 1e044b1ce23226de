"""Special registers (PTX ISA 10): what a thread can ask about itself, its block and its device."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen import ir
from grader.emulator.codegen.builder import FunctionBuilder
from grader.emulator.codegen.values import I32, I64
from grader.emulator.ptx.plan import RESERVED, KernelPlan
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import LANES

_FROM_CONTEXT = {
    "ctaid.x": layout.BLOCK_X, "ctaid.y": layout.BLOCK_Y, "ctaid.z": layout.BLOCK_Z,
    "nctaid.x": layout.GRID_X, "nctaid.y": layout.GRID_Y, "nctaid.z": layout.GRID_Z,
    "ntid.x": layout.BLOCK_DIM_X, "ntid.y": layout.BLOCK_DIM_Y, "ntid.z": layout.BLOCK_DIM_Z,
    "nwarpid": layout.WARP_SLOTS, "nsmid": layout.SM_COUNT,
    "cluster_nctaid.x": layout.CLUSTER_X, "cluster_nctaid.y": layout.CLUSTER_Y, "cluster_nctaid.z": layout.CLUSTER_Z,
    "cluster_ctarank": layout.RANK, "cluster_nctarank": layout.CLUSTER_SIZE,
}  # fmt: skip
_OF_CLUSTER = {
    f"{name}.{axis}": (of, cluster, divides)
    for axis, block, grid, cluster in (
        ("x", layout.BLOCK_X, layout.GRID_X, layout.CLUSTER_X),
        ("y", layout.BLOCK_Y, layout.GRID_Y, layout.CLUSTER_Y),
        ("z", layout.BLOCK_Z, layout.GRID_Z, layout.CLUSTER_Z),
    )
    for name, of, divides in (
        ("clusterid", block, True),
        ("nclusterid", grid, True),
        ("cluster_ctaid", block, False),
    )
}
"""Context slots of which the register holds the quotient, or the rest."""
_OF_LANE = {
    "laneid": lambda lane: lane,
    "lanemask_eq": lambda lane: 1 << lane,
    "lanemask_lt": lambda lane: (1 << lane) - 1,
    "lanemask_le": lambda lane: (2 << lane) - 1,
    "lanemask_gt": lambda lane: ~((2 << lane) - 1) & 0xFFFFFFFF,
    "lanemask_ge": lambda lane: ~((1 << lane) - 1) & 0xFFFFFFFF,
}
_RESERVED = {
    "reserved_smem_offset_begin": 0, "reserved_smem_offset_0": 0, "reserved_smem_offset_1": RESERVED.nbytes // 2,
    "reserved_smem_offset_end": RESERVED.nbytes, "reserved_smem_offset_cap": RESERVED.nbytes,
}  # fmt: skip
"""Offsets in the reserved shared memory: its begin and end, the largest end, and where its two parts begin."""
_APART, _SHIFT = 7919, 31
"""Of neighbouring blocks' multiprocessors, and of a round of blocks to the next. The first is a prime greater than any
number of multiprocessors."""
_FIRST_SLOT, _SLOTS_APART = 5, 13
"""Of the warps of the first block, and of neighbouring blocks' warps. The second shares no divisor with how many there
are."""
_CLOCKS = ("clock", "clock64", "globaltimer", "clock_hi", "globaltimer_lo", "globaltimer_hi")


def read_special(e: FunctionBuilder, plan: KernelPlan, register: str) -> Any:
    """The value of %register: a vector for what differs between lanes, else a scalar (32 or 64 bits); None where the
    emulator does not have it."""
    name = register[1:]
    if name in _FROM_CONTEXT:
        return e.b.trunc(e.context_slot(_FROM_CONTEXT[name]), I32)
    if name in _OF_CLUSTER or name == "is_explicit_cluster":
        return _of_cluster(e, name)
    if name in ("tid.x", "tid.y", "tid.z"):
        return _thread_index(e, "xyz".index(name[-1]), plan.rows_uniform)
    if name in _OF_LANE:
        return _vector(_OF_LANE[name](lane) for lane in range(LANES))
    if name == "smid":
        return _multiprocessor(e)
    if name == "warpid":
        return _warp_slot(e)
    if name in _CLOCKS:
        return _clock(e, name)
    if name == "dynamic_smem_size":
        dynamic = e.b.sub(e.context_slot(layout.SHARED_BYTES), I64(plan.static_shared_bytes))
        return e.b.trunc(dynamic, I32)
    if name in ("envreg1", "envreg2"):  # the halves of an address, as the driver has them
        workspace = e.context_slot(layout.GRID_WORKSPACE)
        return e.b.trunc(workspace if name == "envreg2" else e.b.lshr(workspace, I64(32)), I32)
    if name in _RESERVED:
        return I32(plan.shared[RESERVED.name][0] + _RESERVED[name])
    if name == "total_smem_size":
        return e.b.trunc(e.context_slot(layout.SHARED_BYTES), I32)
    return None


def _multiprocessor(e: FunctionBuilder) -> Any:
    """Each has a block before any has a second one. Neighbours go to multiprocessors that lie apart, and each round of
    blocks in another order: what a block's number says of its multiprocessor is a GPU's own affair."""
    block, count = e.context_slot(layout.BLOCK_LINEAR), e.context_slot(layout.MULTIPROCESSORS)
    before, place = e.b.udiv(block, count), e.b.urem(block, count)
    spread = e.b.add(e.b.mul(place, I64(_APART)), e.b.mul(before, I64(_SHIFT)))
    return e.b.trunc(e.b.urem(spread, count), I32)


def _warp_slot(e: FunctionBuilder) -> Any:
    """Where the multiprocessor keeps the warp: a number of its own in the block, and no more."""
    apart = e.b.mul(e.context_slot(layout.BLOCK_LINEAR), I64(_SLOTS_APART))
    number = e.b.add(e.b.add(e.context_slot(layout.WARP), apart), I64(_FIRST_SLOT))
    return e.b.trunc(e.b.urem(number, e.context_slot(layout.WARP_SLOTS)), I32)


def _of_cluster(e: FunctionBuilder, name: str) -> Any:
    if name == "is_explicit_cluster":
        return e.b.icmp_unsigned(">", e.context_slot(layout.CLUSTER_SIZE), I64(1))
    number, cluster, divides = _OF_CLUSTER[name]
    a, b = e.context_slot(number), e.context_slot(cluster)
    return e.b.trunc(e.b.udiv(a, b) if divides else e.b.urem(a, b), I32)


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
    """Instructions of the block so far: time in the emulator is what was executed, so that it is repeatable. The global
    timer has nanoseconds since 1970: those begin with the launch."""
    spent = e.b.sub(e.context_slot(layout.BLOCK_BUDGET), e.context_slot(layout.BUDGET))
    if name.startswith("globaltimer"):
        spent = e.b.add(spent, e.context_slot(layout.LAUNCHED_AT))
    if name.endswith("_hi"):
        return e.b.trunc(e.b.lshr(spent, I64(32)), I32)
    return spent if name in ("clock64", "globaltimer") else e.b.trunc(spent, I32)
