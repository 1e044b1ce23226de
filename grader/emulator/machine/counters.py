"""From what native code counted to Nsight Compute's metrics, for a launch and by source line.

Instructions are PTX instructions: ptxas may merge, split or drop some of them, so counts of instructions can differ
from a GPU's, while requests, sectors and wavefronts are those of the same accesses.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from grader.emulator import metrics
from grader.emulator.machine.records import Counted
from grader.emulator.places import Place
from grader.emulator.ptx.instructions import fence_scope
from grader.emulator.ptx.plan import KernelPlan, Site, access_shape, is_bulk_copy
from grader.emulator.ptx.tree import TYPE_BYTES, Imm, Instruction
from grader.emulator.runtime.layout import (
    FINDINGS,
    GROUPS,
    LINES,
    NEW_SECTORS,
    PEER_EXCESS,
    PEER_REQUESTS,
    PEER_SECTORS,
    PEERS_ALONE,
    REQUESTS,
    SECTORS,
    TURNS,
)
from grader.emulator.runtime.tensor.forms import operand_spread, product_of, shape_of, warpgroup_product_of

Array = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

_PRECISION = {"f32": "f", "f64": "d", "f16": "h", "f16x2": "h", "bf16": "h", "bf16x2": "h"}
_ARITHMETIC = {"fma": "fma", "mad": "fma", "add": "add", "sub": "add", "mul": "mul"}
_SPECIAL = ("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh", "div", "rem")
_BITWISE = ("popc", "clz", "bfind", "brev")
_FP64 = ("add", "sub", "mul", "fma", "mad", "min", "max", "setp", "set")
_EXPANSIONS = {
    "div.rn.f64": (18, 8),
    "rcp.rn.f64": (12, 5),
    "sqrt.rn.f64": (17, 8),
    "rsqrt.approx.f64": (13, 5),
    "div.rn.f32": (11, 0),
    "rcp.rn.f32": (10, 0),
    "sqrt.rn.f32": (12, 0),
    "div.u16": (24, 0),
    "rem.u16": (24, 0),
    "div.s16": (24, 0),
    "rem.s16": (24, 0),
    "div.u32": (17, 0),
    "rem.u32": (16, 0),
    "div.s32": (23, 0),
    "rem.s32": (22, 0),
    "div.u64": (117, 0),
    "rem.u64": (130, 0),
    "div.s64": (143, 0),
    "rem.s64": (143, 0),
    "mul.hi.u64": (6, 0),
    "mul.hi.s64": (6, 0),
}
"""Issue slots beyond one, and instructions of the unit for double precision, of what SASS has no instruction for:
without the calls for subnormals, as CUDA 13.0 compiles it for sm_90 at -O3. Those of 64-bit integers, most of whose
instructions take two slots, are what an H100 takes (benchmarks/expansions.cu)."""
_VIDEO = {
    "vadd2": ((3, 13, 12, 18, 8, 13, 12, 18), (12, 17, 16, 22, 13, 17, 16, 22), (6, 9, 11, 15, 6, 9, 11, 15)),
    "vsub2": ((3, 13, 12, 18, 8, 13, 12, 18), (12, 17, 16, 22, 13, 17, 16, 22), (6, 9, 10, 15, 6, 9, 10, 15)),
    "vavrg2": ((3, 19, 18, 24, 14, 19, 18, 24), (18, 23, 22, 28, 17, 23, 22, 28), (11, 16, 15, 21, 11, 16, 15, 21)),
    "vabsdiff2": ((10, 17, 15, 22, 10, 17, 15, 22), (17, 21, 20, 26, 17, 22, 20, 27), (8, 11, 14, 19, 8, 11, 14, 19)),
    "vmin2": ((4, 12, 12, 18, 8, 12, 12, 4), (12, 16, 16, 22, 13, 17, 16, 22), (7, 12, 11, 16, 7, 12, 11, 16)),
    "vmax2": ((4, 12, 12, 18, 8, 12, 12, 4), (12, 16, 16, 22, 13, 17, 16, 22), (7, 12, 11, 16, 7, 12, 11, 16)),
    "vadd4": ((3, 24, 23, 31, 18, 24, 23, 31), (26, 31, 33, 38, 30, 34, 36, 42), (1, 17, 20, 23, 13, 17, 20, 23)),
    "vsub4": ((3, 24, 23, 31, 18, 24, 23, 31), (26, 31, 33, 38, 30, 34, 36, 42), (1, 17, 20, 23, 13, 17, 20, 23)),
    "vavrg4": ((30, 35, 37, 42, 30, 35, 37, 42), (38, 43, 45, 50, 41, 46, 48, 53), (25, 31, 30, 39, 25, 31, 30, 39)),
    "vabsdiff4": ((0, 29, 31, 0, 26, 29, 31, 37), (34, 39, 41, 46, 38, 43, 45, 50), (0, 27, 26, 0, 21, 27, 26, 34)),
    "vmin4": ((18, 24, 23, 31, 18, 24, 23, 31), (26, 31, 33, 38, 30, 34, 36, 42), (15, 20, 22, 29, 15, 20, 22, 29)),
    "vmax4": ((18, 24, 23, 31, 18, 24, 23, 31), (26, 31, 33, 38, 30, 34, 36, 42), (15, 20, 22, 29, 15, 20, 22, 29)),
}  # fmt: skip
_VIDEO_SETS = {
    "vset2": ((13, 16, 15, 22), (11, 16, 15, 20)),
    "vset4": ((26, 31, 33, 38), (23, 29, 29, 37)),
}
"""Issue slots beyond one of the SIMD video instructions: as they are, with .sat and with .add, each for the types
of their result and operands, u32 before s32; those that compare, as they are and with .add, for those of operands."""
_SIGNS = ("u32", "s32")


def _video() -> Iterator[tuple[str, tuple[int, int]]]:
    for name, rows in _VIDEO.items():
        for end, row in zip(("", ".sat", ".add"), rows, strict=True):
            for types, slots in zip(itertools.product(_SIGNS, repeat=3), row, strict=True):
                yield ".".join((name, *types)) + end, (slots, 0)
    for name, of_sets in _VIDEO_SETS.items():
        for end, few in zip(("", ".add"), of_sets, strict=True):
            for types, slots in zip(itertools.product(_SIGNS, repeat=2), few, strict=True):
                for how in ("eq", "ne", "lt", "le", "gt", "ge"):
                    yield ".".join((name, *types, how)) + end, (slots, 0)


_EXPANSIONS.update(_video())
_ROUNDINGS = frozenset(("rz", "rm", "rp"))
_INTER_THREAD = ("shfl", "vote", "match", "redux")
_OF_L1 = {kind: (metrics.GLOBAL_LINES[kind], metrics.GLOBAL_WAVEFRONTS[kind]) for kind in metrics.LOAD_STORE}
_ALWAYS = (
    *metrics.GLOBAL_REQUESTS.values(),
    *metrics.GLOBAL_LINES.values(),
    *metrics.GLOBAL_WAVEFRONTS.values(),
    *metrics.GLOBAL_SECTORS.values(),
    *metrics.LOCAL_REQUESTS.values(),
    *metrics.LOCAL_SECTORS.values(),
    *(metrics.SHARED_CONFLICTS[op] for op in metrics.LOAD_STORE),
    *(metrics.SHARED_WAVEFRONTS[op] for op in metrics.LOAD_STORE),
    *metrics.GLOBAL_INSTRUCTIONS.values(),
    *metrics.LOCAL_INSTRUCTIONS.values(),
    *metrics.SHARED_INSTRUCTIONS.values(),
    *metrics.ARITHMETIC.values(),
    metrics.CONSTANT_INSTRUCTIONS,
    metrics.CONSTANT_REQUESTS,
    metrics.CONSTANT_SECTORS,
    metrics.MATRIX_LOADS,
    metrics.ASYNC_COPIES,
    metrics.TENSOR_INSTRUCTIONS,
    *(metrics.TENSOR_OPS["fp16", sums] for sums in ("fp32", "fp16")),
    metrics.INTER_THREAD,
    metrics.WARP_INSTRUCTIONS,
    metrics.THREAD_INSTRUCTIONS,
)
"""Reported also where they are zero: that something does not happen is worth a claim."""

_INSTRUCTIONS = {
    "global": metrics.GLOBAL_INSTRUCTIONS,
    "local": metrics.LOCAL_INSTRUCTIONS,
    "shared": metrics.SHARED_INSTRUCTIONS,
}
"""Warp instructions by the memory space that they name."""


@functools.cache
def metric_of(opcode: str) -> str | None:
    """The metric that counts the threads which execute an instruction, if there is one."""
    parts = opcode.split(".")
    if parts[0] in _INTER_THREAD:
        return metrics.INTER_THREAD
    name, precision = _ARITHMETIC.get(parts[0]), _PRECISION.get(parts[-1])
    if name is None or precision is None:
        return None
    return metrics.ARITHMETIC[precision + name]


@functools.cache
def _additions(opcode: str) -> int:
    """Numbers that each thread has added in memory by an atomic on floating-point ones."""
    parts = opcode.split(".")
    if parts[0] not in ("atom", "red") or "add" not in parts or parts[-1] not in _PRECISION:
        return 0
    vector = next((int(part[1:]) for part in parts if part in ("v2", "v4", "v8")), 1)
    return vector * (2 if parts[-1].endswith("x2") else 1)


@functools.cache
def _special(opcode: str) -> int:
    """Instructions of the unit for special functions: itself, those that ptxas makes of it for a 64-bit integer, or one
    with which it begins what it makes of it."""
    name, *parts = opcode.split(".")
    if name in _BITWISE:
        return 2 if parts[-1].endswith("64") else 1
    if name == "cvt":
        kinds = "".join(parts[-2:])
        return int("64" in kinds and "f" in kinds)  # integers are only extended, or cut off
    return int(name in _SPECIAL)


@functools.cache
def _expansion(opcode: str) -> tuple[int, int]:
    """Issue slots beyond one, and instructions of the unit for double precision."""
    parts = [part for part in opcode.split(".") if part != "ftz"]
    if parts[-1] == "f64" and parts[0] in _FP64:
        return 0, 1
    return _EXPANSIONS.get(".".join("rn" if part in _ROUNDINGS else part for part in parts), (0, 0))


_FLOATS = {"f16": "fp16", "bf16": "bf16", "tf32": "tf32", "f32": "fp32", "f64": "fp64"}
_WIDENED = {"e4m3": "f16", "e5m2": "f16"}
"""FP8 in mma.sync: what ptxas makes of it for a Tensor Core that takes it in wgmma alone."""


@functools.cache
def _tensor_metrics(opcode: str) -> tuple[tuple[str, int], ...]:
    """What a Tensor Core instruction counts as: machine instructions, and multiplications and additions."""
    parts = opcode.split(".")
    if parts[:2] == ["wgmma", "mma_async"]:
        return _warpgroup_metrics(parts)
    if parts[0] != "mma" and parts[:2] != ["wmma", "mma"]:
        return ()
    product = product_of(parts)
    if product is None:
        return ()
    kind, count = product.instructions
    pipe = metrics.TENSOR_PIPES["imma" if kind == "bmma" else kind]
    if kind in metrics.INTEGER_OPS:
        operations = metrics.INTEGER_OPS[kind]
    else:
        factors = _FLOATS[_WIDENED.get(product.a, product.a)]
        operations = metrics.TENSOR_OPS[factors, _FLOATS[product.d]]
    return (pipe, count), (operations, product.operations)


def _warpgroup_metrics(parts: list[str]) -> tuple[tuple[str, int], ...]:
    """Each of the four warps executes the instruction, and computes a quarter of it."""
    product = warpgroup_product_of(parts)
    if product is None:
        return ()
    if product.d == "s32":
        operations = metrics.INTEGER_OPS["igmma"]
    else:
        operations = metrics.WARPGROUP_OPS[_FLOATS.get(product.a, "fp8")]
    pipe = metrics.TENSOR_PIPES["imma" if product.d == "s32" else "hmma"]
    executed = (metrics.TENSOR_PIPES["gmma"], 1), (pipe, 1), (metrics.SHARED_PRODUCTS, 1)
    return *executed, (operations, product.operations // 4)


class Tally:
    """Counters of a launch, added up by metric and by (place, metric)."""

    def __init__(self) -> None:
        self.total: dict[str, int] = dict.fromkeys(_ALWAYS, 0)
        self.places: dict[Place, dict[str, int]] = defaultdict(lambda: defaultdict(int))

    def add(self, metric: str, place: Place, amount: int) -> None:
        if amount:
            self.total[metric] = self.total.get(metric, 0) + amount
            self.places[place][metric] += amount

    def lines(self) -> tuple[Counted, ...]:
        """What each place has caused, in the order of the files and lines."""
        places = sorted(self.places.items(), key=lambda item: item[0].order())
        return tuple(Counted(place, dict(counters)) for place, counters in places)


_EXECUTIONS, _IDEAL, _FROM_PEERS, _MULTICAST = range(FINDINGS, FINDINGS + 4)
"""Columns behind the counted slots of a site: executions of its basic block; sectors that its lanes' bytes would fill;
sectors of other blocks' shared memory, of accesses there; sectors of a multicast beyond one."""

Term = tuple[str, int, int]
"""A metric, which slot of a site it counts, and how often."""


class _Metrics:
    """What native code's counts of a kernel mean: each metric of a place is a sum of counts, times factors. That is
    known of the kernel alone, which is launched many times, and has many instructions of a line where loops are
    unrolled."""

    def __init__(self, plan: KernelPlan) -> None:
        self._factors: dict[tuple[str, Place], Counter[int]] = defaultdict(Counter)
        self._plan = plan
        self._add_instructions()
        self._add_sites()
        self._sums = list(self._factors)
        self._starts = np.cumsum([0, *map(len, self._factors.values())])[:-1]
        terms = [term for sums in self._factors.values() for term in sums.items()]
        self._places, self._times = np.array(terms, np.int64).T
        self._combined = np.array([site.combined for site in plan.sites], bool)
        self._bytes = np.array(
            [_bytes_a_lane(site) if site.operation in metrics.GLOBAL_SECTORS else 0 for site in plan.sites],
            np.int64,
        )
        self._blocks = np.array([site.block for site in plan.sites], np.int64)

    def _add_instructions(self) -> None:
        """Counts: executions and threads of each basic block, then threads of each guarded instruction."""
        guarded = 2 * len(self._plan.flow.blocks)
        for block in self._plan.flow.blocks:
            executions, threads = 2 * block.index, 2 * block.index + 1
            end = [block.terminator] if block.terminator else []
            for inst in [*block.instructions, *end]:
                self._factors[metrics.THREAD_INSTRUCTIONS, inst.place][threads] += 1
                for metric, each in _warp_metrics(inst):
                    self._factors[metric, inst.place][executions] += each
                guard = self._plan.guarded.get(id(inst))
                counted = threads if guard is None else guarded + guard
                for metric, each in _thread_metrics(inst.opcode):
                    self._factors[metric, inst.place][counted] += each

    def _add_sites(self) -> None:
        """Counts: behind those of instructions, the slots and columns of each site."""
        first = 2 * len(self._plan.flow.blocks) + max(1, len(self._plan.guarded))
        for site in self._plan.sites:
            at = first + site.index * (_MULTICAST + 1)
            for metric, column, times in _site_metrics(site):
                self._factors[metric, site.inst.place][at + column] += times

    def tally(self, blocks: Array, lanes: Array, sites: Array) -> Tally:
        """See `tally`."""
        counts = [blocks.ravel(), lanes, self._columns(blocks, sites[: len(self._plan.sites)]).ravel()]
        terms = np.concatenate(counts)[self._places] * self._times
        amounts = np.add.reduceat(terms, self._starts).tolist()
        result = Tally()
        for (metric, place), amount in zip(self._sums, amounts, strict=True):
            result.add(metric, place, amount)
        return result

    def _columns(self, blocks: Array, sites: Array) -> Array:
        """The slots of each site, and the columns behind them."""
        requests, peers = sites[:, REQUESTS], sites[:, PEER_SECTORS]
        amounts = np.where(self._combined, requests, sites[:, SECTORS])
        ideal = np.minimum(amounts, requests * self._bytes)
        from_peers = np.where(sites[:, PEER_REQUESTS] > 0, peers, 0)
        multicast = np.where(requests > 0, peers, 0)
        derived = blocks[self._blocks, 0], ideal, from_peers, multicast
        return np.column_stack([sites[:, :FINDINGS], *derived])


_metrics = functools.lru_cache(256)(_Metrics)


def tally(
    plan: KernelPlan, blocks: Array, lanes: Array, sites: Array, spilled: tuple[int, int] = (0, 0)
) -> Tally:
    """blocks: (basic blocks, 2) executions and lanes; lanes: (guarded,), one where there is none; sites: (sites,
    SITE_SLOTS); spilled: bytes loaded and stored."""
    result = _metrics(plan).tally(blocks, lanes, sites)
    _add_spills(result, plan, spilled)
    return result


def _add_spills(result: Tally, plan: KernelPlan, spilled: tuple[int, int]) -> None:
    """Registers that ptxas keeps in local memory. It says how many bytes its code loads and stores, and not where: in
    loops or before them. Each such instruction is taken to be executed as often as those of the kernel are on average.
    """
    written = sum(len(block.instructions) + bool(block.terminator) for block in plan.flow.blocks)
    for kind, nbytes in zip(metrics.LOAD_STORE, spilled, strict=True):
        amount = round(nbytes / 4 * result.total[metrics.WARP_INSTRUCTIONS] / max(1, written))
        if amount:
            result.total[metrics.SPILLED[kind]] = amount  # of no line


def _thread_metrics(opcode: str) -> Iterator[tuple[str, int]]:
    """What an instruction counts as once for each thread."""
    metric, additions = metric_of(opcode), _additions(opcode)
    if metric:
        yield metric, 1
    if additions:
        yield metrics.MEMORY_ADDITIONS, additions


def _warp_metrics(inst: Instruction) -> Iterator[tuple[str, int]]:
    """What a warp's instruction counts as, wherever it leads."""
    yield metrics.WARP_INSTRUCTIONS, 1
    yield from _tensor_metrics(inst.opcode)
    yield metrics.SPECIAL_FUNCTIONS, _special(inst.opcode)
    slots, doubles = _expansion(inst.opcode)
    yield metrics.FP64_INSTRUCTIONS, doubles
    if slots and not isinstance(inst.operands[-1], Imm):  # by a constant, ptxas multiplies
        yield metrics.EXPANDED, slots
    scope = fence_scope(inst)
    if scope:
        yield metrics.FENCES[scope], 1


def _site_metrics(site: Site) -> Iterator[Term]:
    operation = site.operation
    if operation == "sleep":
        yield metrics.SLEPT, SECTORS, 1
        return
    if operation == "prefetch":
        yield metrics.PREFETCHED, SECTORS, 1
        return
    yield from _peer_metrics(site)
    if operation in ("sync", "use", "gmma", "tex"):
        return
    if is_bulk_copy(site.inst):
        yield from _bulk_metrics(operation)
        yield metrics.MEMORY_ADDITIONS, SECTORS, _bulk_additions(site.inst)
        return
    yield from _instruction_metrics(site)
    if site.space in ("global", "generic"):
        yield metrics.GLOBAL_REQUESTS[operation], REQUESTS, 1
        yield metrics.GLOBAL_SECTORS[operation], REQUESTS if site.combined else SECTORS, 1
        yield metrics.IDEAL_SECTORS, _IDEAL, 1
        past_l1 = site.inst.parts[0] == "cp" and "cg" in site.inst.parts
        if operation in _OF_L1:
            lines, wavefronts = _OF_L1[operation]
            yield lines, LINES, 1
            yield wavefronts, GROUPS, 0 if past_l1 else 1
    elif site.space == "const":
        yield metrics.CONSTANT_INSTRUCTIONS, _EXECUTIONS, 1
        yield metrics.CONSTANT_REQUESTS, SECTORS, 1
        yield metrics.CONSTANT_SECTORS, GROUPS, 1
    elif site.space == "local" and operation in metrics.LOAD_STORE:
        yield metrics.LOCAL_REQUESTS[operation], REQUESTS, 1
        yield metrics.LOCAL_SECTORS[operation], SECTORS, 1
    elif site.space == "shared":
        if operation in metrics.ATOMICS:
            yield from _shared_atomics(site)
        else:
            yield metrics.SHARED_WAVEFRONTS[operation], SECTORS, 1
            yield metrics.SHARED_CONFLICTS[operation], SECTORS, 1
            yield metrics.SHARED_CONFLICTS[operation], GROUPS, -1


def _instruction_metrics(site: Site) -> Iterator[Term]:
    operation = site.operation
    if site.is_matrix:
        yield metrics.MATRIX_LOADS if operation == "ld" else metrics.MATRIX_STORES, _EXECUTIONS, 1
    elif site.inst.parts[0] == "cp":
        # CUDA's header issues it twice under opposite guards, of which ptxas drops the one that never holds.
        yield metrics.ASYNC_COPIES, REQUESTS, 1
        yield metrics.ASYNC_SECTORS, SECTORS, 1
        yield metrics.COPY_CONFLICTS, TURNS, 1
    elif operation in metrics.LOAD_STORE and site.companion and site.space == "shared":
        yield metrics.SHARED_INSTRUCTIONS[operation], REQUESTS, 1
    elif operation in metrics.LOAD_STORE and not site.companion and site.space in _INSTRUCTIONS:
        metric = _INSTRUCTIONS[site.space][operation]
        yield metric, _EXECUTIONS, site.accesses
        yield metric, PEERS_ALONE, -site.accesses


def _bulk_metrics(operation: str) -> Iterator[Term]:
    yield metrics.BULK_COPIES[operation], REQUESTS, 1
    for sectors in (SECTORS, _MULTICAST):
        yield metrics.TMA_BYTES[operation], sectors, 32
        yield metrics.TMA_SECTORS[operation], sectors, 1


def _bulk_additions(inst: Instruction) -> int:
    """Numbers of a sector that a copy adds up in memory; a tensor's are taken for floats, as its map has their type."""
    if inst.parts[:2] != ["cp", "reduce"] or "add" not in inst.parts:
        return 0
    kind = "f32" if "tensor" in inst.parts else inst.parts[-1]
    return 32 // TYPE_BYTES[kind] if kind in _PRECISION else 0


def _peer_metrics(site: Site) -> Iterator[Term]:
    """What an instruction asked of the shared memory of other blocks of the cluster."""
    if is_bulk_copy(site.inst):
        way = "tma_red" if site.operation == "red" else "tma_st"
        yield metrics.PEER_INSTRUCTIONS[way], PEER_REQUESTS, 1
        yield metrics.PEER_BYTES[way], _FROM_PEERS, 32
        return
    name, completes = site.inst.parts[0], "async" in site.inst.parts
    way = {"ld": "ld", "st": "st"}.get(name, "redas" if completes else "atom")
    yield metrics.PEER_INSTRUCTIONS["stas" if completes and way == "st" else way], PEER_REQUESTS, 1
    yield metrics.PEER_REQUESTS[way], PEER_REQUESTS, 1
    yield metrics.PEER_SECTORS[way], _FROM_PEERS, 1
    yield metrics.PEER_EXCESS[way], PEER_EXCESS, 1
    yield metrics.PEER_BYTES[way], _FROM_PEERS, 64 if way == "atom" else 32


_UNKNOWN = 1 << 20


def _bytes_a_lane(site: Site) -> int:
    """Bytes that each lane accesses, which is how many sectors 32 neighbours take; _UNKNOWN, which are more, where that
    is not known."""
    inst = site.inst
    if inst.parts[0] == "cp":
        return next((int(size.value) for size in inst.operands[2:3] if isinstance(size, Imm)), _UNKNOWN)
    if inst.parts[0] == "wmma":
        return _matrix_bytes(inst.parts) // (32 * site.accesses)
    kind, count = access_shape(inst)
    return TYPE_BYTES.get(kind, _UNKNOWN) * count


def _matrix_bytes(parts: list[str]) -> int:
    """Of the matrix that a wmma load or store accesses; its lanes share its elements out."""
    spread, shape = operand_spread(parts), shape_of(parts)
    if parts[2] in ("a", "b") and spread:
        return spread.majors * spread.minors * spread.factor.bits // 8
    return shape[0] * shape[1] * TYPE_BYTES[parts[-1]] if shape else 0


_LOOP = re.compile(r"\.add\.(noftz\.)?(f|bf|[us]64)|\.(min|max|and|or|xor)\.[usb]64")
"""What ptxas makes a loop of, where it is to happen in shared memory."""


def _shared_atomics(site: Site) -> Iterator[Term]:
    """What atomics on shared memory are in SASS, as an H200 counts it.

    Shared memory adds integers itself, a lane of a bank at a time; lanes that only count, and want no old value, are
    added up on the way, so that distinct words alone take wavefronts. For what it cannot add, ptxas makes a loop of a
    load and a compare-and-swap that locks the bank: a turn for each lane of a bank.
    """
    if _LOOP.search(site.inst.opcode):
        halves = 2 if site.inst.opcode.endswith("64") else 1
        yield metrics.SHARED_ATOMICS["cas"], TURNS, 1
        yield metrics.SHARED_INSTRUCTIONS["ld"], TURNS, 1
        yield metrics.SHARED_WAVEFRONTS["ld"], TURNS, halves
        yield metrics.SHARED_WAVEFRONTS["atom"], TURNS, 2 * halves
        return
    passes = SECTORS if _counts_up(site) else TURNS
    yield metrics.SHARED_ATOMICS["cas" if ".cas" in site.inst.opcode else "alu"], REQUESTS, 1
    yield metrics.SHARED_WAVEFRONTS["atom"], passes, 1
    yield metrics.SHARED_CONFLICTS["atom"], passes, 1
    yield metrics.SHARED_CONFLICTS["atom"], REQUESTS, -1


def _counts_up(site: Site) -> bool:
    """Whether it adds the number 1, and its result is not used."""
    return site.operation == "red" and ".add." in site.inst.opcode and site.inst.operands[-1] == Imm(1)


def l2_bytes(plan: KernelPlan, sites: Array) -> tuple[int, int]:
    """Bytes that pass between L1 and L2: sectors that L1 has not when loaded, all sectors when stored."""
    read = written = 0
    for site in plan.sites:
        if site.space in ("global", "generic") and site.operation != "prefetch":
            # Bulk copies do not look for what they load in L1.
            loaded = SECTORS if site.operation == "ld" and is_bulk_copy(site.inst) else NEW_SECTORS
            read += int(sites[site.index][loaded]) * 32
            stored = REQUESTS if site.combined else SECTORS
            written += int(sites[site.index][stored]) * 32 if site.operation not in ("ld", "tex") else 0
    return read, written
