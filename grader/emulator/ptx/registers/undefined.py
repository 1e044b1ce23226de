"""Which registers may hold a value that nobody has defined, by where it comes from; a may-analysis.

Their lanes are followed while the kernel runs (codegen/undefined.py). All other registers cost nothing, and most
kernels have none but for the results of their shuffles.
"""

from __future__ import annotations

from grader.emulator.ptx.basic_blocks import Block
from grader.emulator.ptx.instructions import destinations, names_in, registers_of, sources
from grader.emulator.ptx.tree import Instruction, Mem

UNWRITTEN = "unwritten"
"""Registers that were read before they were written."""

ABSENT = "absent"
"""What shuffles read from lanes that took no part in them."""

_FROM_MEMORY = frozenset(("ld", "ldu", "tex", "atom", "ldmatrix"))
"""What they load is defined, wherever it lies."""


def may_be_undefined(blocks: list[Block], live_at_entry: set[str]) -> dict[str, set[str]]:
    """Origin → registers. Those alive at the entry are the ones that some path reads before it writes them."""
    shuffled = {
        name
        for block in blocks
        for inst in block.instructions
        if inst.parts[0] == "shfl"
        for name in destinations(inst)
    }
    return {UNWRITTEN: _computed_from(blocks, set(live_at_entry)), ABSENT: _computed_from(blocks, shuffled)}


def _computed_from(blocks: list[Block], registers: set[str]) -> set[str]:
    changed = bool(registers)
    while changed:
        before = len(registers)
        for block in blocks:
            for inst in block.instructions:
                if inst.parts[0] in _FROM_MEMORY and not inst.predicate:
                    continue
                if not registers.isdisjoint(sources(inst)):
                    registers.update(destinations(inst))
        changed = len(registers) != before
    return registers


def observed(inst: Instruction) -> list[str]:
    """The registers of an instruction whose values show: addresses, what is stored or handed to the host, and what
    decides where a branch goes or whether any of this happens."""
    name = inst.parts[0]
    guard = [inst.predicate[0]] if inst.predicate else []
    if name in ("bra", "brx", "ret", "exit", "trap"):
        return [*guard, *(register for operand in inst.operands for register in registers_of(operand))]
    if name in ("st", "red", "call", "stmatrix"):
        return [*sources(inst)]
    if name == "atom":
        return [*guard, *(register for operand in inst.operands[1:] for register in registers_of(operand))]
    addresses = [register for o in inst.operands if isinstance(o, Mem) for register in names_in(o)]
    return [*guard, *addresses] if addresses else []
