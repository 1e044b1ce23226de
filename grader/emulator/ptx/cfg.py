"""Basic blocks of a kernel, what is live between them, and what is the same in a whole warp.

A warp's registers are vectors of 32 lanes. Two facts, found here once, make most of them cheaper:

* a register that is *uniform* holds one value for all lanes and is kept as a scalar;
* a register that is not *contested* may be stored for all lanes at once: no lane that is elsewhere in
  the program still needs its old value. Only contested registers are written under the lane mask.

Both rest on how the warp is scheduled (see codegen.py): lanes that parted at a branch wait at its immediate
post-dominator, because the lowest pending block runs first. Where the order of the blocks does not promise
that, or lanes may be rotated out of order, everything behind the branch counts as contested.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, field

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.ptx.parser import Function, Instruction, Label, Mem, Not, Operand, Pair, Reg, Sym, Vec

_NO_DESTINATION = frozenset(
    ("st", "red", "bra", "brx", "bar", "barrier", "membar", "fence", "ret", "exit", "trap", "brkpt", "prefetch",
     "prefetchu", "cp", "nanosleep", "discard", "stmatrix", "griddepcontrol", "pmevent", "applypriority")
)  # fmt: skip
_LANE_DEPENDENT = frozenset(
    (
        "shfl",
        "atom",
        "vote",
        "match",
        "activemask",
        "elect",
        "redux",
        "ldmatrix",
        "mma",
        "wmma",
        "wgmma",
        "call",
        "addc",
        "subc",
        "madc",
    )
)
"""Opcodes whose result depends on the lanes that execute them, or on the carry flag, whatever their operands are."""

EXIT = -1
"""The successor of a block that ends the threads."""


@dataclass
class Block:
    index: int
    instructions: list[Instruction] = field(default_factory=list)
    terminator: Instruction | None = None
    """The bra, brx.idx, bar or ret at the end; None where control falls through."""
    successors: list[int] = field(default_factory=list)
    """Block indices, the taken branch first; EXIT for the end of the threads."""


@dataclass
class ControlFlow:
    function: Function
    blocks: list[Block]
    live_in: list[set[str]]
    """Registers read in or after block i before they are written."""
    uniform: set[str]
    contested: set[str]
    loop_heads: set[int]
    """Targets of backward jumps: where the instruction budget is checked."""
    meetings: dict[int, int]
    """Blocks that begin with an instruction at which parted lanes wait for each other → the block that must not run
    before they go on (one behind the last where there is none)."""

    def crossing(self) -> set[str]:
        """Registers whose values outlive a block."""
        return set().union(*self.live_in) if self.live_in else set()


def analyse(function: Function, *, rows_uniform: bool, rotates: bool) -> ControlFlow:
    """Blocks and facts of an inlined kernel.

    rows_uniform: all lanes of a warp share tid.y and tid.z (the block's width is a multiple of 32).
    rotates: the scheduler may run lanes out of order (kernels that spin on memory).
    """
    blocks = build_blocks(function)
    divergence = _Divergence(function, blocks, rows_uniform, rotates)
    meeting = divergence.meeting_instructions()
    if meeting:
        blocks = build_blocks(function, meeting)
        divergence = _Divergence(function, blocks, rows_uniform, rotates)
    uniform = set(function.registers) - divergence.varying
    heads = {s for b in blocks for s in b.successors if 0 <= s <= b.index}
    meetings = {
        b.index: divergence.limit(b) for b in blocks if b.instructions and id(b.instructions[0]) in meeting
    }
    return ControlFlow(function, blocks, divergence.live_in, uniform, divergence.contested, heads, meetings)


_SPECIAL = frozenset(
    ("laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid", "clock", "clock_hi", "clock64", "globaltimer",
     "globaltimer_lo", "globaltimer_hi", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge",
     "lanemask_gt", "dynamic_smem_size", "total_smem_size", "is_explicit_cluster", "cluster_ctarank",
     "cluster_nctarank")
)  # fmt: skip


def is_special(name: str) -> bool:
    """%tid.x, %laneid and the like: read-only registers that the machine supplies."""
    return name.startswith("%") and ("." in name or name[1:] in _SPECIAL)


# -- operands ---------------------------------------------------------------------------------------------------


def _names(operand: Operand | None) -> list[str]:
    """The registers in an operand, special ones included."""
    match operand:
        case Reg(name):
            return [name]
        case Mem(base, _):
            return _names(base)
        case Vec(items):
            return [name for item in items for name in _names(item)]
        case Pair(first, second):
            return _names(first) + _names(second)
        case Not(reg):
            return _names(reg)
        case _:
            return []


def _registers(operand: Operand | None) -> list[str]:
    return [name for name in _names(operand) if name != "_" and not is_special(name)]


def destinations(inst: Instruction) -> list[str]:
    """Registers the instruction writes."""
    name = inst.parts[0]
    if not inst.operands or name in _NO_DESTINATION or inst.opcode.startswith("wmma.store"):
        return []
    return _registers(inst.operands[0])


def sources(inst: Instruction) -> list[str]:
    """Registers the instruction reads, its guard included; a guarded write also reads the old value."""
    written = destinations(inst)
    start = 1 if written or (inst.operands and inst.parts[0] not in _NO_DESTINATION
                             and not inst.opcode.startswith("wmma.store")) else 0  # fmt: skip
    names = [name for operand in inst.operands[start:] for name in _registers(operand)]
    if inst.predicate:
        names += [inst.predicate[0], *written]
    return names


# -- blocks -----------------------------------------------------------------------------------------------------


def _ends_block(inst: Instruction) -> bool:
    return inst.parts[0] in ("bra", "brx", "ret", "exit", "bar", "barrier", "trap")


def membermask(inst: Instruction) -> Operand | None:
    """Of an instruction at which lanes wait for each other: the mask that names them."""
    name = inst.parts[0]
    if _is_warp_barrier(inst):
        return inst.operands[0]
    if "sync" not in inst.parts or name not in _MEMBERSHIP:
        return None
    return inst.operands[_MEMBERSHIP[name]]


_MEMBERSHIP = {"shfl": 4, "vote": 2, "match": 2, "redux": 2, "elect": 1}


def build_blocks(function: Function, meeting: Collection[int] = ()) -> list[Block]:
    """The body cut at labels, at instructions that transfer control or wait, and before those in `meeting` (by id)."""
    blocks = [Block(0)]
    labels: dict[str, int] = {}
    for item in function.body:
        current = blocks[-1]
        if isinstance(item, Label):
            if current.instructions or current.terminator:
                blocks.append(Block(len(blocks)))
            labels[item.name] = len(blocks) - 1
        else:
            if current.terminator or (current.instructions and id(item) in meeting):
                blocks.append(Block(len(blocks)))
                current = blocks[-1]
            if _ends_block(item) and not _is_warp_barrier(item):
                current.terminator = item
            else:
                current.instructions.append(item)
    for block in blocks:
        block.successors = _successors(function, block, labels, len(blocks))
    return blocks


def _is_warp_barrier(inst: Instruction) -> bool:
    return inst.opcode.startswith("bar.warp")


def _successors(function: Function, block: Block, labels: dict[str, int], count: int) -> list[int]:
    fall = block.index + 1 if block.index + 1 < count else EXIT
    end = block.terminator
    if end is None:
        return [fall]
    name = end.parts[0]
    if name in ("ret", "exit", "trap"):
        return [EXIT, fall] if end.predicate else [EXIT]
    if name == "bra":
        target = end.operands[0]
        assert isinstance(target, Sym)
        taken = labels[target.name]
        return [taken, fall] if end.predicate else [taken]
    if end.predicate:
        raise UnsupportedPtx(f"a predicated {end.opcode}", end.ptx_line, end.source_line)
    if name == "brx":
        table = end.operands[1]
        assert isinstance(table, Sym)
        return [labels[label] for label in function.branch_targets[table.name]]
    return [fall]


# -- liveness ---------------------------------------------------------------------------------------------------


def _liveness(blocks: list[Block]) -> list[set[str]]:
    reads: list[set[str]] = []
    writes: list[set[str]] = []
    for block in blocks:
        read: set[str] = set()
        written: set[str] = set()
        for inst in [*block.instructions, *([block.terminator] if block.terminator else [])]:
            read |= {name for name in sources(inst) if name not in written}
            if not inst.predicate:
                written |= set(destinations(inst))
        reads.append(read)
        writes.append(written)
    live_in = [set(read) for read in reads]
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out = set().union(*(live_in[s] for s in block.successors if s != EXIT))
            new = reads[block.index] | (out - writes[block.index])
            if new != live_in[block.index]:
                live_in[block.index] = new
                changed = True
    return live_in


# -- divergence -------------------------------------------------------------------------------------------------


class _Divergence:
    """The varying and the contested registers; a fixed point, since each kind of divergence feeds the other."""

    def __init__(self, function: Function, blocks: list[Block], rows_uniform: bool, rotates: bool) -> None:
        self.blocks = blocks
        self.live_in = _liveness(blocks)
        self.post = _PostDominators(blocks)
        self.defined = [
            {name for inst in block.instructions for name in destinations(inst)} for block in blocks
        ]
        self.varying: set[str] = set()
        self.contested: set[str] = set()
        self.regions: dict[int, tuple[set[int], int]] = {}
        """Divergent branch → the blocks in which lanes are parted, and the block that waits for all of them."""
        changed = True
        while changed:
            before = len(self.varying) + len(self.contested) + len(self.regions)
            _spread(blocks, self.varying, rows_uniform)
            for block in blocks:
                if block.index not in self.regions and _diverges(block, self.varying):
                    self._part(block, rotates)
            self.varying |= self.contested
            changed = len(self.varying) + len(self.contested) + len(self.regions) != before

    def _part(self, branch: Block, rotates: bool) -> None:
        """Takes note of a divergent branch."""
        join = self.post.immediate(branch.index)
        targets = list(dict.fromkeys(branch.successors))
        sides = [_reachable(self.blocks, target, join) for target in targets]
        region = set().union(*sides)
        if rotates or (join != EXIT and any(index >= join for index in region)):
            region |= _reachable(self.blocks, join, EXIT) if join != EXIT else set()
            self.regions[branch.index] = region, EXIT
            self.contested |= self._defined_in(region)
        else:
            self.regions[branch.index] = region, join
            self.contested |= self._contested(targets, sides, join)

    def _defined_in(self, region: set[int]) -> set[str]:
        return set().union(*(self.defined[index] for index in region))

    def _contested(self, targets: list[int], sides: list[set[int]], join: int) -> set[str]:
        """Registers that lanes on one side of a branch may overwrite while the others need them."""
        contested = self._defined_in(set().union(*sides)) & self.live_in[join] if join != EXIT else set()
        for one, (target, other) in itertools.product(sides, zip(targets, sides, strict=True)):
            if other is one:
                continue
            if one & other:
                contested |= self._defined_in(one | other)
            needed = self._defined_in(other)
            if target not in (EXIT, join):
                needed |= self.live_in[target]
            contested |= self._defined_in(one) & needed
        return contested

    def meeting_instructions(self) -> set[int]:
        """Where parted lanes may have to wait, by id.

        Of a row of shuffles or votes with one mask the first will do. At a warp barrier lanes may meet others that
        are at another one, so each counts.
        """
        found: set[int] = set()
        for index in set().union(*(region for region, _ in self.regions.values())):
            together: Operand | None = None
            for inst in self.blocks[index].instructions:
                mask = membermask(inst)
                if mask is not None and (mask != together or _is_warp_barrier(inst)):
                    found.add(id(inst))
                    together = mask
                if together is not None and set(_registers(together)) & set(destinations(inst)):
                    together = None
        return found

    def limit(self, block: Block) -> int:
        """The first block that waits for lanes in `block`; one behind the last where none does."""
        joins = [join for region, join in self.regions.values() if block.index in region and join != EXIT]
        return min(joins, default=len(self.blocks))


def _spread(blocks: list[Block], varying: set[str], rows_uniform: bool) -> None:
    """Adds every register computed from a varying one, or by an instruction that differs from lane to lane."""
    changed = True
    while changed:
        changed = False
        for block in blocks:
            for inst in block.instructions:
                written = destinations(inst)
                if all(name in varying for name in written):
                    continue
                if _varies(inst, rows_uniform) or any(name in varying for name in [*sources(inst), *written]):
                    varying.update(written)  # all or none: one instruction is done by lanes or once for all
                    changed = True


_PER_LANE = ("%tid.x", "%tid.y", "%tid.z", "%laneid", "%clock", "%clock64", "%globaltimer")


def _varies(inst: Instruction, rows_uniform: bool) -> bool:
    name = inst.parts[0]
    if name in _LANE_DEPENDENT or (name == "ld" and _loads_by_lane(inst)):
        return True
    same = ("%tid.y", "%tid.z") if rows_uniform else ()
    specials = [name for operand in inst.operands for name in _names(operand)]
    return any((s in _PER_LANE and s not in same) or s.startswith("%lanemask") for s in specials)


def _loads_by_lane(inst: Instruction) -> bool:
    """Loads that are done lane by lane even from one address: local memory is each lane's own, and a generic
    address may be local; a parameter at a computed address is not worth a way of its own."""
    space, memory = inst.parts[1], inst.operands[1]
    if space == "param":
        return isinstance(memory, Mem) and isinstance(memory.base, Reg)
    return space not in ("global", "const", "shared")


def _diverges(block: Block, varying: set[str]) -> bool:
    end = block.terminator
    if end is None or len(set(block.successors)) < 2:
        return False
    return any(name in varying for name in sources(end))


def _reachable(blocks: list[Block], start: int, stop: int) -> set[int]:
    seen: set[int] = set()
    stack = [start]
    while stack:
        index = stack.pop()
        if index in (EXIT, stop) or index in seen:
            continue
        seen.add(index)
        stack.extend(blocks[index].successors)
    return seen


class _PostDominators:
    """Which block every path from a block to the exit goes through first."""

    def __init__(self, blocks: list[Block]) -> None:
        count = len(blocks)
        everything = (1 << (count + 1)) - 1
        exit_bit = 1 << count
        sets = [everything] * count
        changed = True
        while changed:
            changed = False
            for block in reversed(blocks):
                meet = everything
                for successor in block.successors:
                    meet &= exit_bit if successor == EXIT else sets[successor]
                new = meet | (1 << block.index)
                if new != sets[block.index]:
                    sets[block.index] = new
                    changed = True
        self.sets = sets
        self.count = count

    def immediate(self, index: int) -> int:
        """The nearest strict post-dominator: the one that all the others post-dominate."""
        candidates = [i for i in range(self.count) if i != index and self.sets[index] >> i & 1]
        for candidate in candidates:
            if all(self.sets[candidate] >> other & 1 for other in candidates):
                return candidate
        return EXIT
