"""Basic blocks: the nodes of the control flow graph, and the registers that are live where they begin."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.ptx.instructions import destinations, is_barrier, sources
from grader.emulator.ptx.tree import Function, Instruction, Label, Sym

EXIT = -1
"""The successor of a block that ends the threads."""

BARRIER_RESULT = "barrier_result"
"""The instruction that stands for the second half of a bar.red."""


@dataclass
class Block:
    index: int
    instructions: list[Instruction] = field(default_factory=list)
    terminator: Instruction | None = None
    """The bra, brx.idx, bar or ret at the end; None where control falls through."""
    successors: list[int] = field(default_factory=list)
    """Block indices, the taken branch first; EXIT for the end of the threads."""
    in_loop: bool = False
    """It can run again."""


def cut_into_blocks(function: Function, cuts: Collection[int] = ()) -> list[Block]:
    """The body cut at labels, behind instructions that transfer control or wait, and before those in `cuts` (by id), in
    the order of the text."""
    blocks = [Block(0)]
    labels: dict[str, int] = {}
    for item in function.body:
        current = blocks[-1]
        if isinstance(item, Label):
            if current.instructions or current.terminator:
                blocks.append(Block(len(blocks)))
            labels[item.name] = len(blocks) - 1
        else:
            if current.terminator or (current.instructions and id(item) in cuts):
                blocks.append(Block(len(blocks)))
                current = blocks[-1]
            if is_barrier(item) and "red" in item.parts:
                current.terminator, result = _reduction(item)
                blocks.append(Block(len(blocks), [result]))
            elif _ends_block(item):
                current.terminator = item
            else:
                current.instructions.append(item)
    for block in blocks:
        block.successors = _successors(function, block, labels, len(blocks))
    return blocks


def _ends_block(inst: Instruction) -> bool:
    return inst.parts[0] in ("bra", "brx", "ret", "exit", "trap") or is_barrier(inst)


def _reduction(inst: Instruction) -> tuple[Instruction, Instruction]:
    """A barrier with a reduction, as arriving with a predicate and taking the result behind it."""
    operation = next((part for part in inst.parts if part in ("popc", "and", "or")), "")
    result = replace(
        inst, opcode=f"{BARRIER_RESULT}.{operation}.{inst.parts[-1]}", operands=inst.operands[:1]
    )
    return replace(inst, operands=inst.operands[1:]), replace(result, predicate=None)


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
        raise UnsupportedPtx(f"a predicated {end.opcode}", end.ptx_line, end.place)
    if name == "brx":
        table = end.operands[1]
        assert isinstance(table, Sym)
        return [labels[label] for label in function.branch_targets[table.name]]
    return [fall]


def reachable(blocks: list[Block], start: int, stop: int) -> set[int]:
    """The blocks on paths from `start` that end before `stop`."""
    seen: set[int] = set()
    stack = [start]
    while stack:
        index = stack.pop()
        if index in (EXIT, stop) or index in seen:
            continue
        seen.add(index)
        stack.extend(blocks[index].successors)
    return seen


def live_in(blocks: list[Block]) -> list[set[str]]:
    """For each block, the registers read in or after it before they are written."""
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
    alive = [set(read) for read in reads]
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out = set().union(*(alive[s] for s in block.successors if s != EXIT))
            new = reads[block.index] | (out - writes[block.index])
            if new != alive[block.index]:
                alive[block.index] = new
                changed = True
    return alive
