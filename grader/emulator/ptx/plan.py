"""What is known of a kernel before any code is generated: parameters, memory layout, memory sites, guards.

The numbering made here (sites, guarded instructions, register slots) is what generated code, counters and findings
agree on, so it depends on the PTX alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.ptx.basic_blocks import Block
from grader.emulator.ptx.calls.inline import inline_calls
from grader.emulator.ptx.cfg import ControlFlow, analyse
from grader.emulator.ptx.instructions import (
    decode_space,
    destinations,
    fence_scope,
    is_barrier,
    is_cluster_barrier,
    is_counted,
    is_of_block,
    is_partial_warp_barrier,
    is_strong,
    is_transaction,
    is_warp_barrier,
    is_warpgroup_product,
    makes_numbers,
    names_in,
    sources,
    waits_for_phase,
)
from grader.emulator.ptx.names import check_names, symbols_in
from grader.emulator.ptx.order import build_blocks
from grader.emulator.ptx.registers.undefined import observed
from grader.emulator.ptx.registers.unfinished import WarpgroupRegisters, warpgroup_registers
from grader.emulator.ptx.speculation import guard_speculated_loads
from grader.emulator.ptx.tree import (
    TYPE_BYTES,
    Function,
    Imm,
    Instruction,
    Mem,
    Module,
    Param,
    Reg,
    Variable,
)
from grader.emulator.runtime.tensor.forms import operand_spread, shape_of

GENERIC_COMPANIONS = ("shared", "local")
"""A generic access counts as global but for lanes in these spaces, in the order that the runtime expects."""


_MOST_LOCAL = 512 << 10

RESERVED = Variable("%reserved_smem", "shared", 1024, 1024)
"""The shared memory that the system keeps for itself; cooperative groups have some of it. It is there where a kernel
asks for it (PTX ISA 10.30)."""


@dataclass(frozen=True)
class Site:
    """One memory instruction."""

    index: int
    inst: Instruction
    operation: str
    """"ld", "st", "atom", "red"; or for what is checked and not counted, "tex" of textures, "sync" of warp instructions
    that some lanes must execute together, "use" of others in which an undefined value shows, or that must wait for a
    wgmma; "gmma" of that itself, which reads shared memory; "sleep" of nanosleep, whose time is counted; "prefetch"
    to L2, whose sectors are."""
    space: str
    """One of `instructions.SPACES`, or "generic"."""
    block: int
    accesses: int = 1
    """How many machine instructions it is: wmma loads and stores of accumulators are several."""
    is_matrix: bool = False
    """The machine instruction is LDSM or STSM."""
    combined: bool = False
    """ptxas adds up what the lanes of a warp give to an atomic, and has one of them act for all."""
    companion: bool = False
    """Stands behind a site of generic addresses, for those of them that turn out to lie in `space`."""


@dataclass(eq=False)
class KernelPlan:
    """A kernel ready for code generation."""

    name: str
    rows_uniform: bool
    """Generated for blocks in which all lanes of a warp share tid.y and tid.z."""
    params: list[Param]
    param_bytes: int
    flow: ControlFlow
    warpgroup: WarpgroupRegisters
    sites: list[Site]
    of_block: list[int]
    """Sites that are atomic, or strong, for threads of their own block alone."""
    system_calls: list[Instruction]
    """Calls of the host: printf, assert, malloc, free."""
    guarded: dict[int, int]
    """id of an instruction under a guard → its index among the lane counters."""
    constants: list[str]
    """The module's constant variables."""
    symbols: dict[str, int]
    """Global and constant variables the kernel names → index in the table of their addresses."""
    shared: dict[str, tuple[int, int]]
    """Shared variables → byte offset and bytes; none of an extern one."""
    static_shared_bytes: int
    local: dict[str, int]
    local_bytes: int
    shadow_shift: int
    """log2 of the narrowest shared access, at most 2."""
    serial: bool
    """Blocks may communicate: they run in order on one thread."""
    fences: Literal["block", "grid"] | None
    """There are fences, or releases: what a thread has stored can be made known to others, at the widest to these."""
    blocks_wait: bool
    """A block may wait for another, by an atomic, a fence or a volatile access."""
    parts_meet: bool
    """Some warps of a block may wait for some others, by barriers with a number of threads or by shared memory."""
    lanes_meet: bool
    """Some lanes of a warp may wait for some others, by a __syncwarp with a mask."""
    meets: bool
    """Threads may meet in global memory otherwise than by atomics alone: its accesses are tracked from the start."""
    in_place: bool
    """Something is stored where it was loaded from, it seems: each thread may update what is its own."""
    reads_only: bool
    """There are loads through the read-only cache, or of textures."""
    record_shift: int
    """log2 of the narrowest access to global memory, at most 2."""
    may_spin: bool
    """A lane may wait for another of its warp, so pending lanes take turns."""
    waiting: set[int]
    """The blocks of loops in which it may wait; inside of those, no loop that works on memory."""
    spins: bool
    """There is a loop that does nothing but look again whether another thread has changed something."""
    transactions: bool
    """It uses mbarriers, bulk copies or the barrier of a cluster."""
    clusters: bool
    """It uses the barrier of a cluster."""
    max_threads: int | None
    synchronises_grid: bool = False
    """It asks for the workspace by which a cooperative launch synchronises its grid."""
    uses: set[str] = field(default_factory=set)
    """The names of its instructions."""
    allocates: bool = False
    """It takes memory from the heap, or gives it back."""
    watched: tuple[Instruction, ...] | None = None
    """Arithmetic that may make an infinity or a NaN, where it is to be noted which does so first; None: it is not."""


def access_shape(inst: Instruction) -> tuple[str, int]:
    """(element type, elements a lane) of a ld or st."""
    count = next((int(p[1:]) for p in inst.parts if p in ("v2", "v4", "v8")), 1)
    return inst.parts[-1], count


def plan_kernel(module: Module, name: str, *, rows_uniform: bool, watch: bool = False) -> KernelPlan:
    """Inlines, analyses and numbers one kernel of a module; with `watch`, its arithmetic is `watched`."""
    entry = module.functions[name]
    function = inline_calls(module, entry)
    function.body = guard_speculated_loads(function.body)
    instructions = [item for item in function.body if isinstance(item, Instruction)]
    check_names(module, function, instructions)
    communicates = any(_communicates(inst) for inst in instructions)
    blocks_wait = any(_lets_wait(inst) for inst in instructions)
    blocks = build_blocks(function)
    may_spin = _may_spin(function, [block for block in blocks if block.in_loop])
    fences = [inst for inst in instructions if _is_fence(inst)]
    transactions = any(map(is_transaction, instructions))
    seen = [id(inst) for inst in instructions if blocks_wait and _is_seen(inst)]
    phases = [id(inst) for inst in instructions if waits_for_phase(inst)]
    groups = [id(inst) for inst in instructions if inst.parts[:2] == ["wgmma", "wait_group"]]
    flow = analyse(
        function,
        rows_uniform=rows_uniform,
        rotates=may_spin or bool(phases),
        seen=seen,
        waits=(*phases, *groups),
    )
    warpgroup = warpgroup_registers(instructions)
    sites = _sites(flow, warpgroup)
    shared, static_bytes = _layout(_shared_variables(module, function, instructions))
    places, local_bytes = _layout([v for v in function.variables.values() if v.space == "local"])
    local = {name: start for name, (start, _) in places.items()}
    if local_bytes > _MOST_LOCAL:
        raise UnsupportedPtx(f"{local_bytes} bytes of local memory a thread, which has at most {_MOST_LOCAL}")
    return KernelPlan(
        name=name,
        rows_uniform=rows_uniform,
        params=function.params,
        param_bytes=max((p.offset + p.nbytes for p in function.params), default=0),
        flow=flow,
        warpgroup=warpgroup,
        sites=sites,
        of_block=[site.index for site in sites if is_of_block(site.inst)],
        system_calls=[inst for inst in instructions if inst.parts[0] == "call"],
        guarded=_guarded(flow),
        constants=[v.name for v in module.variables.values() if v.space == "const"],
        symbols=_symbols(module, instructions),
        shared=shared,
        static_shared_bytes=static_bytes,
        local=local,
        local_bytes=local_bytes,
        shadow_shift=_narrowest(instructions, "shared"),
        serial=communicates,
        fences=("grid" if any(map(fence_scope, fences)) else "block") if fences else None,
        blocks_wait=blocks_wait,
        parts_meet=_has_counted_barrier(flow)
        or transactions
        or (bool(fences) and any(map(_is_flag, instructions))),
        lanes_meet=any(is_partial_warp_barrier(inst) for inst in instructions),
        meets=any(_may_meet(inst) for inst in instructions) or (may_spin and blocks_wait),
        in_place=_updates_in_place(instructions),
        reads_only=any(map(_reads_only, instructions)),
        record_shift=_narrowest(instructions, "global"),
        may_spin=may_spin,
        waiting=_waiting(flow, sites),
        spins=_may_spin(function, [block for block in blocks if _goes_round(block, blocks)]),
        transactions=transactions,
        clusters=any(map(is_cluster_barrier, instructions)),
        max_threads=entry.max_threads,
        synchronises_grid=any(Reg("%envreg2") in inst.operands for inst in instructions),
        uses={inst.parts[0] for inst in instructions},
        allocates=any(inst.parts[0] == "call" and _HEAP & set(symbols_in(inst)) for inst in instructions),
        watched=tuple(filter(makes_numbers, instructions)) if watch else None,
    )


def _communicates(inst: Instruction) -> bool:
    """Whether other blocks may see or change what this instruction touches."""
    name = inst.parts[0]
    if inst.opcode.startswith("cp.reduce"):
        return True
    if name in ("atom", "red"):
        return decode_space(inst) != "shared"
    if name in ("ld", "st"):
        return decode_space(inst) in ("global", "generic") and bool(
            {"volatile", "relaxed", "acquire", "release", "mmio"} & set(inst.parts)
        )
    if name == "call":
        return True  # printf: the lines come out in the order of the blocks
    return name in ("membar", "fence") and not {"cta", *_NOT_FOR_DATA} & set(inst.parts)


def is_bulk_copy(inst: Instruction) -> bool:
    """Whether it is a bulk or a tensor copy, or a reduction by one."""
    return inst.opcode.startswith(("cp.async.bulk", "cp.reduce.async.bulk")) and not (
        {"commit_group", "wait_group", "prefetch"} & set(inst.parts)
    )


def is_prefetch(inst: Instruction) -> bool:
    """Whether it brings data of global memory to L2, and maybe nearer."""
    name, *parts = inst.parts
    return (name in ("prefetch", "prefetchu") and {"local", "tensormap"}.isdisjoint(parts)) or (
        name == "cp" and "prefetch" in parts
    )


_NOT_FOR_DATA = frozenset(("proxy", "mbarrier_init"))
"""Fences between the two ways to memory, and of the initialisation of mbarriers."""


def _lets_wait(inst: Instruction) -> bool:
    """Whether one block can wait for another by this instruction."""
    name = inst.parts[0]
    if name in ("atom", "ld", "st"):
        return decode_space(inst) in ("global", "generic") and (name == "atom" or is_strong(inst))
    return name in ("membar", "fence") and not {"cta", *_NOT_FOR_DATA} & set(inst.parts)


def _is_seen(inst: Instruction) -> bool:
    """Whether it matters which block comes first to this instruction."""
    return inst.parts[0] in ("atom", "ld", "st") and _lets_wait(inst)


def _is_fence(inst: Instruction) -> bool:
    """Whether the instruction orders what its thread has stored before what it stores next."""
    if inst.parts[0] in ("membar", "fence"):
        return _NOT_FOR_DATA.isdisjoint(inst.parts)
    return inst.parts[0] not in ("mbarrier", "barrier") and bool({"release", "acq_rel"} & set(inst.parts))


def _reads_only(inst: Instruction) -> bool:
    """Whether it loads through a cache that does not see stores."""
    return inst.parts[0] == "tex" or (inst.parts[0] == "ld" and "nc" in inst.parts)


def _has_counted_barrier(flow: ControlFlow) -> bool:
    ends = [block.terminator for block in flow.blocks if block.terminator is not None]
    return any(is_barrier(end) and is_counted(end) for end in ends)


def _is_flag(inst: Instruction) -> bool:
    """Whether a warp can wait for another of its block by this access to shared memory."""
    strong = inst.parts[0] == "atom" or (inst.parts[0] in ("ld", "st") and is_strong(inst))
    return strong and decode_space(inst) in ("shared", "generic")


def _may_meet(inst: Instruction) -> bool:
    """Whether a launch cannot be done again without a trace, or will mostly have to be."""
    strong = inst.parts[0] in ("ld", "st") and is_strong(inst)
    outside = (strong or is_of_block(inst)) and decode_space(inst) != "shared"
    return inst.parts[0] == "call" or _is_fence(inst) or outside


def _updates_in_place(instructions: list[Instruction]) -> bool:
    """Whether a load and a store name their address alike."""
    loaded, stored = (
        {
            operand
            for inst in instructions
            if inst.parts[0] == name and decode_space(inst) in ("global", "generic")
            for operand in inst.operands
            if isinstance(operand, Mem)
        }
        for name in ("ld", "st")
    )
    return not loaded.isdisjoint(stored)


def _goes_round(block: Block, blocks: list[Block]) -> bool:
    """Whether it is a loop of its own, but for a latch without instructions."""
    latches = {
        other.index for other in blocks if not other.instructions and other.successors == [block.index]
    }
    return not {block.index, *latches}.isdisjoint(block.successors)


def _may_spin(function: Function, looping_blocks: list[Block]) -> bool:
    """A lane can wait for another only in a loop, through an atomic whose result is used or a volatile load."""
    looping = [inst for block in looping_blocks for inst in block.instructions]
    used = {name for item in function.body if isinstance(item, Instruction) for name in sources(item)}
    return any(
        (inst.parts[0] == "atom" and any(name in used for name in destinations(inst)))
        or inst.parts[:2] in (["mbarrier", "test_wait"], ["mbarrier", "try_wait"])
        or (inst.parts[0] == "ld" and {"volatile", "relaxed", "acquire"} & set(inst.parts))
        for inst in looping
    )  # fmt: skip


def _waiting(flow: ControlFlow, sites: Sequence[Site]) -> set[int]:
    """The blocks of loops in which a lane may wait for another, but for loops inside of them that work on memory."""
    accesses = {site.block for site in sites if site.space in ("global", "shared", "generic")}
    waiting: set[int] = set()
    working: set[int] = set()
    for loop in flow.loops:
        blocks = {block.index for block in loop}
        if _may_spin(flow.function, loop):
            waiting |= blocks
        elif blocks & accesses:
            working |= blocks
    return waiting - working


def _sites(flow: ControlFlow, warpgroup: WarpgroupRegisters) -> list[Site]:
    """The memory instructions, numbered. An atom whose result is not read is a reduction, as in SASS."""
    found: list[Site] = []
    doubtful = set().union(*(found.registers for found in flow.undefined.values()))
    used = {name for b in flow.blocks for i in [*b.instructions, b.terminator] if i for name in sources(i)}
    combined = _combined(flow, used)
    for block in flow.blocks:
        for inst in block.instructions:
            operation = _operation(inst, used)
            if operation:
                space = _SPACES_OF.get(inst.parts[0]) or decode_space(inst)
                accesses, is_matrix = _machine_accesses(inst, space)
                one = id(inst) in combined
                found.append(Site(len(found), inst, operation, space, block.index, accesses, is_matrix, one))
                for other in GENERIC_COMPANIONS if space == "generic" else ():
                    found.append(Site(len(found), inst, operation, other, block.index, companion=True))
            elif (
                not doubtful.isdisjoint(observed(inst))
                or warpgroup.touched(inst)
                or is_partial_warp_barrier(inst)
                or (is_warp_barrier(inst) and block.index in flow.reconvergence_points)
            ):
                found.append(Site(len(found), inst, "use", "generic", block.index))
        end = block.terminator
        if end is not None and not doubtful.isdisjoint(observed(end)):
            found.append(Site(len(found), end, "use", "generic", block.index))
    return found


def _combined(flow: ControlFlow, used: set[str]) -> set[int]:
    """Atomics (by id) to one address for a whole warp, as far as the compiler knows, that ptxas makes one lane's."""
    atomics = [
        inst
        for block in flow.blocks
        for inst in block.instructions
        if _combines(inst, _operation(inst, used))
    ]
    uniform = flow.uniform - _by_rows(flow) if atomics else set()
    return {
        id(inst)
        for inst in atomics
        for memory in inst.operands
        if isinstance(memory, Mem) and uniform.issuperset(names_in(memory))
    }


def _combines(inst: Instruction, operation: str | None) -> bool:
    """Whether ptxas adds up what lanes give to an atomic of this kind: 32-bit integers, and known numbers of 64 bits;
    where old values are asked for, sums alone (SASS of CUDA 13.0 for sm_90: POPC or REDUX, and one lane's RED)."""
    if operation not in ("red", "atom") or is_bulk_copy(inst):
        return False
    kinds = {"add"} if operation == "atom" else {"add", "min", "max", "and", "or", "xor"}
    narrow = inst.parts[-1] in ("u32", "s32", "b32")
    known = inst.parts[-1] in ("u64", "s64") and "add" in inst.parts and isinstance(inst.operands[-1], Imm)
    return not kinds.isdisjoint(inst.parts) and (narrow or known)


def _by_rows(flow: ControlFlow) -> set[str]:
    """Registers computed from tid.y and tid.z, which the compiler takes for any thread's own."""
    found = {"%tid.y", "%tid.z"}
    instructions = [inst for block in flow.blocks for inst in block.instructions]
    grows = True
    while grows:
        before = len(found)
        for inst in instructions:
            if any(not found.isdisjoint(names_in(operand)) for operand in inst.operands):
                found.update(destinations(inst))
        grows = len(found) != before
    return found


_SPACES_OF = {
    "cp": "global",
    "mbarrier": "shared",
    "wgmma": "shared",
    "barrier": "shared",
    "setmaxnreg": "shared",
    "nanosleep": "shared",
}
"""The memory that is counted of instructions that name several, or none."""


def _operation(inst: Instruction, used: set[str]) -> str | None:
    """What kind of access an instruction is, None where it is none."""
    name = inst.parts[0]
    if inst.opcode.startswith("cp.async.c"):
        return "ld"
    if is_bulk_copy(inst):
        return (
            "red"
            if name == "cp" and inst.parts[1] == "reduce"
            else "st"
            if "bulk_group" in inst.parts
            else "ld"
        )
    if is_prefetch(inst):
        return "prefetch"
    if is_warpgroup_product(inst):
        return "gmma"
    if name in ("mbarrier", "wgmma", "setmaxnreg") or inst.opcode.startswith(_NOT_COUNTED):
        return "sync"
    if name in ("shfl", "vote", "match", "redux", "mma", "movmatrix") or inst.parts[:2] == ["wmma", "mma"]:
        return "sync"
    if name == "wmma":
        return {"load": "ld", "store": "st"}.get(inst.parts[1])
    if name == "atom" and not any(register in used for register in destinations(inst)):
        return "red"
    return {
        "ld": "ld",
        "ldu": "ld",
        "st": "st",
        "atom": "atom",
        "red": "red",
        "ldmatrix": "ld",
        "stmatrix": "st",
        "tex": "tex",
        "nanosleep": "sleep",
    }.get(name)


_NOT_COUNTED = ("cp.async.mbarrier", "st.async", "red.async", "barrier.cluster")


def _machine_accesses(inst: Instruction, space: str) -> tuple[int, bool]:
    """Machine instructions an access becomes, and whether they are LDSM or STSM."""
    if inst.parts[0] in ("ldmatrix", "stmatrix"):
        return 1, True
    if inst.parts[0] != "wmma":
        return 1, False
    if inst.parts[1] == "mma":
        return 1, False
    spread, shape = operand_spread(inst.parts), shape_of(inst.parts)
    if inst.parts[2] in ("a", "b") and spread:
        square = (spread.majors, spread.minors, spread.factor.bits) == (16, 16, 16)
        return (1, True) if space == "shared" and square else (spread.registers, False)
    pieces = shape[0] * shape[1] // 64 if shape else 1
    return (2 * pieces if "col" in inst.parts else pieces), False


def _guarded(flow: ControlFlow) -> dict[int, int]:
    guarded = [id(i) for block in flow.blocks for i in block.instructions if i.predicate]
    return {key: index for index, key in enumerate(guarded)}


_HEAP = {"malloc", "free"}


def _symbols(module: Module, instructions: list[Instruction]) -> dict[str, int]:
    names = [
        name for inst in instructions for name in symbols_in(inst)
        if name in module.variables and module.variables[name].space in ("global", "const")
    ]  # fmt: skip
    return {name: index for index, name in enumerate(dict.fromkeys(names))}


def _shared_variables(module: Module, function: Function, instructions: list[Instruction]) -> list[Variable]:
    own = [v for v in function.variables.values() if v.space == "shared"]
    if any(
        name.startswith("%reserved_smem") for i in instructions for o in i.operands for name in names_in(o)
    ):
        own.insert(0, RESERVED)
    names = {name for inst in instructions for name in symbols_in(inst)}
    outer = [v for v in module.variables.values() if v.space == "shared" and v.name in names]
    everything = [*own, *outer]
    return [v for v in everything if not v.external] + [v for v in everything if v.external]


def _layout(variables: list[Variable]) -> tuple[dict[str, tuple[int, int]], int]:
    """Places one after the other, aligned; extern (dynamic) arrays come last and all start at one place."""
    places: dict[str, tuple[int, int]] = {}
    position = 0
    for variable in variables:
        start = (position + variable.align - 1) // variable.align * variable.align
        places[variable.name] = (start, 0 if variable.external else variable.nbytes)
        if not variable.external:
            position = start + variable.nbytes
    dynamic = [places[v.name][0] for v in variables if v.external]
    return places, max([position, *dynamic])


def _narrowest(instructions: list[Instruction], space: str) -> int:
    """log2 of the bytes of the narrowest access that may be to this space, at most 2."""
    names = ("ld", "st", "atom", "red", *(["wmma"] if space == "global" else []))
    narrowest = 4
    for inst in instructions:
        if inst.parts[0] in names and decode_space(inst) in (space, "generic"):
            narrowest = min(narrowest, TYPE_BYTES.get(inst.parts[-1], 4))
    return {1: 0, 2: 1, 4: 2}[narrowest]
