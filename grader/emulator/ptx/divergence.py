"""Divergence analysis: which registers differ between the lanes of a warp, and where its lanes may be apart.

Two facts, found here once for every register, make most of them cheaper:

* a register that does not *vary* holds one value for all lanes of a warp and is kept as a scalar;
* a register that is not *contested* may be stored for all lanes at once: no lane that is elsewhere in the program
  still needs its old value. Only contested registers are written under the lane mask.

Both rest on how a warp is scheduled (codegen/control_flow.py): lanes that a branch parts reconverge at its immediate
postdominator, because the lowest pending block runs first. Where the order of the blocks does not promise that (loops
with several entries), or lanes may be rotated out of order, everything behind the branch counts as contested.
"""

from __future__ import annotations

import itertools

from grader.emulator.ptx.basic_blocks import EXIT, Block, live_in, reachable
from grader.emulator.ptx.instructions import (
    destinations,
    is_aligned,
    is_barrier,
    is_warp_barrier,
    membermask,
    names_in,
    registers_of,
    sources,
)
from grader.emulator.ptx.postdominators import PostdominatorTree
from grader.emulator.ptx.tree import Imm, Instruction, Mem, Operand, Reg

_LANE_DEPENDENT = frozenset(
    ("shfl", "atom", "vote", "match", "activemask", "elect", "redux", "ldmatrix", "movmatrix", "mma", "wmma", "wgmma",
     "call", "addc", "subc", "madc")
)  # fmt: skip
"""Opcodes whose result depends on the lanes that execute them, or on the carry flag, whatever their operands are."""

_PER_LANE = ("%tid.x", "%tid.y", "%tid.z", "%laneid", "%clock", "%clock64", "%globaltimer")


class DivergenceAnalysis:
    """The varying and the contested registers; a fixed point, since each kind of divergence feeds the other."""

    def __init__(self, blocks: list[Block], *, rows_uniform: bool, rotates: bool) -> None:
        self.blocks = blocks
        self.live_in = live_in(blocks)
        self.postdominators = PostdominatorTree(blocks)
        self.defined = [
            {name for inst in block.instructions for name in destinations(inst)} for block in blocks
        ]
        self._found_behind: dict[int, tuple[set[int], set[str]]] = {}
        self.varying: set[str] = set()
        self.contested: set[str] = set()
        self.regions: dict[int, tuple[set[int], int]] = {}
        """Divergent branch → its sides, where lanes may be apart, and where they have reconverged, or EXIT."""
        self.apart: set[int] = set()
        """Other blocks in which lanes may be apart, those behind the joins of branches that do not reconverge there."""
        self.bypassed: dict[int, set[int]] = {}
        """Block → the blocks behind the barriers that lanes have gone past, who come there while others wait."""
        uniform = _computed(blocks, self.varying, rows_uniform)
        changed = True
        while changed:
            before = len(self.varying) + len(self.contested) + len(self.regions)
            uniform = _spread(uniform, self.varying)
            for block in blocks:
                if block.index not in self.regions and _diverges(block, self.varying):
                    self._add_region(block, rotates)
            self.varying |= self.contested
            changed = len(self.varying) + len(self.contested) + len(self.regions) != before

    def _add_region(self, branch: Block, rotates: bool) -> None:
        """Notes where the lanes that a divergent branch parts may be, and what they contest."""
        join = self.postdominators.immediate(branch.index)
        targets = list(dict.fromkeys(branch.successors))
        sides = [reachable(self.blocks, target, join) for target in targets]
        region = set().union(*sides)
        self._note_barriers(region, join)
        if rotates or (join != EXIT and any(index >= join for index in region)):
            self.regions[branch.index] = region, EXIT
            self.contested |= self._defined_in(region)
            self._part_behind(join)
        else:
            self.regions[branch.index] = region, join
            self.contested |= self._contested(targets, sides, join)

    def _note_barriers(self, region: set[int], join: int) -> None:
        """Lanes on one side of a branch may wait at a barrier while the others go on behind the join, to their end."""
        barriers = {index for index in region if (end := self.blocks[index].terminator) and is_barrier(end)}
        if join == EXIT or not barriers:
            return
        following, defined = self._behind(join)
        self.contested |= defined
        if not self._may_be_return(region, following):
            ends = [self.blocks[index] for index in barriers]
            aligned = {b.successors[0] for b in ends if b.terminator and is_aligned(b.terminator)}
            self.bypassed.setdefault(join, set()).update(aligned)

    def _may_be_return(self, region: set[int], following: set[int]) -> bool:
        """Whether lanes that pass by a barrier to what is `following` may have returned early in the source.

        The compiler merges the stores in front of an early return with the last ones of the kernel. Then only stores
        follow, either from no line of the source or of values that differ by the side that lanes come from.
        """
        instructions = [inst for index in following for inst in self.blocks[index].instructions]
        waits = any((end := self.blocks[index].terminator) and is_barrier(end) for index in following)
        if waits or any(_takes(inst) for inst in instructions):
            return False
        if not any(inst.place.line for inst in instructions):
            return True
        stored = {
            name for inst in instructions if inst.parts[0] == "st" for name in registers_of(inst.operands[1])
        }
        others = [block for block in self.blocks if block.index not in region]
        made = [inst for block in others for inst in block.instructions if stored & set(destinations(inst))]
        return all(inst.parts[0] == "mov" and isinstance(inst.operands[1], Imm) for inst in made)

    def _defined_in(self, region: set[int]) -> set[str]:
        return set().union(*(self.defined[index] for index in region))

    def _part_behind(self, join: int) -> None:
        """Notes that lanes may be apart anywhere behind `join`."""
        if join == EXIT or join in self.apart:  # with all that follows it
            return
        following, defined = self._behind(join)
        self.apart |= following
        self.contested |= defined

    def _behind(self, join: int) -> tuple[set[int], set[str]]:
        """The blocks from `join` to the exit, and the registers defined there: branches share their joins."""
        if join not in self._found_behind:
            following = reachable(self.blocks, join, EXIT)
            self._found_behind[join] = following, self._defined_in(following)
        return self._found_behind[join]

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

    def reconvergence_points(self) -> set[int]:
        """The *.sync instructions of the warp in front of which its lanes may have to wait for each other, by id.

        Of a row of shuffles or votes with one membermask the first will do. At a bar.warp.sync lanes may be awaited by
        others that are at another one, so each counts.
        """
        found: set[int] = set()
        for index in self.apart.union(*(region for region, _ in self.regions.values())):
            reconverged: Operand | None = None
            for inst in self.blocks[index].instructions:
                mask = membermask(inst)
                if mask is not None and (mask != reconverged or is_warp_barrier(inst)):
                    found.add(id(inst))
                    reconverged = mask
                if reconverged is not None and set(registers_of(reconverged)) & set(destinations(inst)):
                    reconverged = None
        return found

    def limit(self, block: Block) -> int:
        """The first block that lanes may not enter before those in `block` have; one behind the last where none is."""
        joins = [join for region, join in self.regions.values() if block.index in region and join != EXIT]
        return min(joins, default=len(self.blocks))


def _takes(inst: Instruction) -> bool:
    """Whether an instruction takes anything from memory or from other lanes."""
    if inst.parts[0] == "ld":
        return inst.parts[1] != "param"
    return (
        inst.parts[0] in ("ldu", "tex", "atom", "ldmatrix", "wmma", "mma", "wgmma", "call")
        or membermask(inst) is not None
    )


_Computed = list[tuple[tuple[str, ...], frozenset[str]]]
"""What instructions write, and what has to vary for that to."""


def _computed(blocks: list[Block], varying: set[str], rows_uniform: bool) -> _Computed:
    """Adds every register that an instruction writes which differs from lane to lane; what the other instructions
    compute."""
    found = []
    for block in blocks:
        for inst in block.instructions:
            written = destinations(inst)
            if _varies(inst, rows_uniform):
                varying.update(written)
            elif written:
                found.append((written, frozenset((*sources(inst), *written))))
    return found


def _spread(uniform: _Computed, varying: set[str]) -> _Computed:
    """Adds every register computed from a varying one; what is uniform still."""
    changed = True
    while changed:
        changed = False
        still = []
        for written, needed in uniform:
            if varying.isdisjoint(needed):
                still.append((written, needed))
            else:
                varying.update(written)  # all or none: one instruction is done by lanes or once for all
                changed = True
        uniform = still
    return uniform


def _varies(inst: Instruction, rows_uniform: bool) -> bool:
    name = inst.parts[0]
    if (
        name in _LANE_DEPENDENT
        or name == "tex"  # done lane by lane
        or inst.opcode.startswith("mbarrier.arrive")
        or (name == "ld" and _loads_by_lane(inst))
    ):
        return True
    same = ("%tid.y", "%tid.z") if rows_uniform else ()
    specials = [name for operand in inst.operands for name in names_in(operand)]
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
