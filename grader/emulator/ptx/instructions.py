"""What an instruction reads and writes, and the membermask of those at which the lanes of a warp synchronise."""

from __future__ import annotations

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.ptx.tree import Imm, Instruction, Mem, Not, Operand, Pair, Reg, Vec

SPACES = ("global", "shared", "local", "const", "param")

_NO_DESTINATION = frozenset(
    ("st", "red", "bra", "brx", "bar", "barrier", "membar", "fence", "ret", "exit", "trap", "brkpt", "prefetch",
     "prefetchu", "cp", "nanosleep", "stmatrix", "griddepcontrol", "pmevent", "applypriority")
)  # fmt: skip
_MBARRIER_RESULTS = ("arrive", "arrive_drop", "test_wait", "try_wait", "pending_count")
_SPECIAL = frozenset(
    ("laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid", "clock", "clock_hi", "clock64", "globaltimer",
     "globaltimer_lo", "globaltimer_hi", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge",
     "lanemask_gt", "dynamic_smem_size", "total_smem_size", "is_explicit_cluster", "cluster_ctarank",
     "cluster_nctarank", "reserved_smem_offset_begin", "reserved_smem_offset_end", "reserved_smem_offset_cap",
     "reserved_smem_offset_0", "reserved_smem_offset_1", "envreg1", "envreg2")
)  # fmt: skip


def is_special(name: str) -> bool:
    """%tid.x, %laneid and the like: read-only registers that the machine supplies."""
    return name[0] == "%" and ("." in name or name[1:] in _SPECIAL)


def names_in(operand: Operand | None) -> list[str]:
    """The registers in an operand, special ones included."""
    if type(operand) is Reg:  # most are, and `match` is slow
        return [operand.name]
    match operand:
        case Mem(base, _, coordinates):
            return [name for part in (base, *coordinates) for name in names_in(part)]
        case Vec(items):
            return [name for item in items for name in names_in(item)]
        case Pair(first, second):
            return names_in(first) + names_in(second)
        case Not(reg):
            return names_in(reg)
        case _:
            return []


def registers_of(operand: Operand | None) -> list[str]:
    """The registers in an operand but for special ones."""
    if type(operand) is Imm:
        return []
    return [name for name in names_in(operand) if name != "_" and not is_special(name)]


def destinations(inst: Instruction) -> tuple[str, ...]:
    """Registers the instruction writes."""
    if inst.written is None:
        inst.written = tuple(registers_of(inst.operands[0])) if _has_destination(inst) else ()
    return inst.written


def sources(inst: Instruction) -> tuple[str, ...]:
    """Registers the instruction reads, its guard included; a guarded write also reads the old value."""
    if inst.taken is None:
        inst.taken = tuple(_sources(inst))
    return inst.taken


def _sources(inst: Instruction) -> list[str]:
    start = 1 if _has_destination(inst) else 0
    names = [name for operand in inst.operands[start:] for name in registers_of(operand)]
    if inst.predicate:
        names += [inst.predicate[0], *destinations(inst)]
    elif is_warpgroup_product(inst):
        names += destinations(inst)
    return names


def decode_space(inst: Instruction) -> str:
    """The state space of a memory instruction."""
    if inst.parts[0] == "tex":
        return "global"
    for part in inst.parts[1:]:
        head = part.partition("::")[0]
        if head in SPACES:
            if part == "param::func":
                raise UnsupportedPtx(inst.opcode, inst.ptx_line, inst.place)
            return head
    return "generic"


def is_warpgroup_product(inst: Instruction) -> bool:
    """Whether it is a wgmma.mma_async, whose first operand it reads and writes."""
    return inst.opcode.startswith("wgmma.mma_async")


def _has_destination(inst: Instruction) -> bool:
    """Whether the first operand is what the instruction writes."""
    if inst.parts[0] == "mbarrier":
        return inst.parts[1] in _MBARRIER_RESULTS and not isinstance(inst.operands[0], Mem)
    stores = inst.parts[0] in _NO_DESTINATION or inst.opcode.startswith("wmma.store")
    return bool(inst.operands) and not stores


def is_warp_barrier(inst: Instruction) -> bool:
    """Whether it is a bar.warp.sync, which CUDA C++ calls __syncwarp."""
    return inst.opcode.startswith("bar.warp")


def is_strong(inst: Instruction) -> bool:
    """Whether a load or a store is one by which threads may see each other without a barrier."""
    return bool({"volatile", "relaxed", "acquire", "release", "mmio"} & set(inst.parts))


def is_of_block(inst: Instruction) -> bool:
    """Whether it is an atomic, or another strong access, for threads of its own block alone."""
    return inst.parts[0] in ("atom", "red", "ld", "st") and "cta" in inst.parts


def fence_scope(inst: Instruction) -> str | None:
    """For whom a warp waits until what it has stored is seen: "gl" of the device or a cluster, "sys"; else None.

    A release is a fence in front of what it stores (SASS of sm_90: MEMBAR.ALL); none is needed for a block.
    """
    name, parts = inst.parts[0], {*inst.parts}
    fences = name in ("membar", "fence") and not {"proxy", "mbarrier_init", "acquire"} & parts
    releases = name in ("atom", "red", "st") and bool({"release", "acq_rel"} & parts)
    if not (fences or releases) or {"cta", "async"} & parts:
        return None
    return "sys" if "sys" in parts else "gl"


def is_partial_warp_barrier(inst: Instruction) -> bool:
    """Whether it is a bar.warp.sync that may not be for the whole warp."""
    return is_warp_barrier(inst) and inst.operands[0] != Imm(-1)


def is_cluster_barrier(inst: Instruction) -> bool:
    """Whether it is a barrier.cluster.arrive or a barrier.cluster.wait."""
    return inst.opcode.startswith("barrier.cluster")


def is_barrier(inst: Instruction) -> bool:
    """Whether it is a barrier of the block: bar.sync, barrier.red, bar.arrive …"""
    return inst.parts[0] in ("bar", "barrier") and not is_warp_barrier(inst) and not is_cluster_barrier(inst)


def is_transaction(inst: Instruction) -> bool:
    """Whether it uses mbarriers, bulk copies, the fence in front of them, or the barrier of a cluster."""
    return inst.opcode.startswith(
        (
            "mbarrier.",
            "cp.async.bulk",
            "cp.async.mbarrier",
            "cp.reduce",
            "st.async",
            "red.async",
            "barrier.cluster",
            "fence.proxy.async",
        )
    )


def waits_for_phase(inst: Instruction) -> bool:
    """Whether lanes wait in front of it: for an mbarrier, or at the barrier of their cluster."""
    return inst.parts[:2] == ["mbarrier", "try_wait"] or inst.parts[:3] == ["barrier", "cluster", "wait"]


def is_aligned(inst: Instruction) -> bool:
    """Whether all threads have to come to this very barrier: __syncthreads(), and not the barrier.sync that cooperative
    groups use; nor one that names a number of threads, as specialised warps have them at several places."""
    return not is_counted(inst) and (inst.parts[0] == "bar" or "aligned" in inst.parts)


def is_counted(inst: Instruction) -> bool:
    """Whether it is a barrier with a number of threads, of a block's end: what a bar.red writes is no operand there."""
    return len(inst.operands) > (2 if "red" in inst.parts else 1)


_MEMBERMASKS = {"shfl": 4, "vote": 2, "match": 2, "redux": 2, "elect": 1}
"""*.sync instruction → which of its operands is the membermask."""


_MATRIX = ("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix", "wgmma")
"""*.sync instructions that the whole warp has to execute."""


def membermask(inst: Instruction) -> Operand | None:
    """The membermask of a bar.warp.sync or another *.sync instruction of the warp; None for all other instructions."""
    name = inst.parts[0]
    if is_warp_barrier(inst):
        return inst.operands[0]
    if name in _MATRIX and "sync" in inst.parts:
        return Imm(0xFFFFFFFF)
    if "sync" not in inst.parts or name not in _MEMBERMASKS:
        return None
    return inst.operands[_MEMBERMASKS[name]]


_ARITHMETIC = frozenset(
    ("add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2")
)
_FLOATS = frozenset(("f64", "f32", "f16", "bf16", "f16x2", "bf16x2"))


def makes_numbers(inst: Instruction) -> bool:
    """Whether it is floating-point arithmetic, or a conversion that may overflow."""
    if inst.parts[0] == "cvt":
        return inst.parts[-1] in _FLOATS and inst.parts[-2] in _FLOATS
    return inst.parts[0] in _ARITHMETIC and inst.parts[-1] in _FLOATS
