"""Which registers may hold a value that nobody has defined, by where it comes from; a may-analysis.

Their lanes are followed while the kernel runs (codegen/undefined.py), through shared and local memory too. All other
registers cost nothing, and most kernels have none but for the results of their shuffles.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from grader.emulator.ptx.basic_blocks import Block
from grader.emulator.ptx.instructions import (
    decode_space,
    destinations,
    is_cluster_barrier,
    names_in,
    registers_of,
    sources,
)
from grader.emulator.ptx.tree import Instruction, Mem

UNWRITTEN = "unwritten"
"""Registers, and elements of local memory, that were read before they were written."""

ABSENT = "absent"
"""What shuffles read from lanes that took no part in them."""

_FROM_MEMORY = frozenset(("ld", "ldu", "tex", "atom", "ldmatrix"))
"""What they load is defined, but for what `loads_from` says."""


@dataclass
class MayBeUndefined:
    """Of one origin."""

    registers: set[str]
    memory: set[str] = field(default_factory=set)
    """The state spaces where stores may leave such a value for loads, "generic" where there is any."""


def may_be_undefined(blocks: list[Block], live_at_entry: set[str]) -> dict[str, MayBeUndefined]:
    """By origin. Registers alive at the entry are the ones that some path reads before it writes them."""
    shuffled = {
        name
        for block in blocks
        for inst in block.instructions
        if inst.parts[0] == "shfl"
        for name in destinations(inst)
    }
    followed = _followed(blocks)
    local = _local_memory(blocks) if "local" in followed else set()
    return {
        UNWRITTEN: _computed_from(blocks, MayBeUndefined(set(live_at_entry), local), followed),
        ABSENT: _computed_from(blocks, MayBeUndefined(shuffled), followed),
    }


def _local_memory(blocks: list[Block]) -> set[str]:
    """The state spaces by which local memory is read, which holds nothing at the start."""
    instructions = [inst for block in blocks for inst in block.instructions]
    if any(inst.parts[:2] == ["cvta", "local"] for inst in instructions):
        return {"local", "generic"}
    return {"local"} if any(loads_from(inst, {"local"}) for inst in instructions) else set()


def _computed_from(blocks: list[Block], found: MayBeUndefined, followed: set[str]) -> MayBeUndefined:
    registers = found.registers
    changed = bool(registers or found.memory)
    while changed:
        before = len(registers), len(found.memory)
        for block in blocks:
            for inst in block.instructions:
                if stores_to(inst, followed):
                    if not registers.isdisjoint(_stored(inst)):
                        space = decode_space(inst)
                        found.memory |= {"shared", "local"} if space == "generic" else {space}
                        found.memory.add("generic")
                elif loads_from(inst, found.memory) or (updates(inst, found.memory) and exchanges(inst)):
                    registers.update(destinations(inst))
                elif inst.parts[0] in _FROM_MEMORY and not inst.predicate:
                    continue
                elif not registers.isdisjoint(computed_from(inst)):
                    registers.update(destinations(inst))
        changed = (len(registers), len(found.memory)) != before
    return found


_READ_OTHERWISE = ("ldmatrix", "wmma.load", "wgmma", "mapa", "cp.async.bulk", "cp.reduce")
"""What else reads shared memory, or lets other blocks do so."""


def _followed(blocks: list[Block]) -> set[str]:
    """The spaces that nothing reads but what `loads_from` and `updates` know; printf reads local memory."""
    instructions = [inst for block in blocks for inst in block.instructions]
    spaces = {"shared", "local", "generic"}
    if any(inst.opcode.startswith(_READ_OTHERWISE) or is_cluster_barrier(inst) for inst in instructions):
        spaces.discard("shared")
    if any(inst.parts[0] == "call" for inst in instructions):
        spaces.discard("local")
    return spaces


def _stored(inst: Instruction) -> list[str]:
    return [name for operand in inst.operands[1:] for name in registers_of(operand)]


def stores_to(inst: Instruction, memory: Collection[str]) -> bool:
    """Whether what it stores does not show there but where it is loaded again."""
    return overwrites(inst, memory) and (
        decode_space(inst) != "generic" or {"shared", "local"}.issubset(memory)
    )


def overwrites(inst: Instruction, memory: Collection[str]) -> bool:
    """Whether it may store where such a store has left something."""
    return inst.parts[0] == "st" and "async" not in inst.parts and decode_space(inst) in memory


def loads_from(inst: Instruction, memory: Collection[str]) -> bool:
    """Whether it may load what such a store has left."""
    return inst.parts[0] in ("ld", "ldu") and bool(memory) and decode_space(inst) in memory


def updates(inst: Instruction, memory: Collection[str]) -> bool:
    """Whether it is an atomic on what such a store may have left."""
    return inst.parts[0] in ("atom", "red") and "async" not in inst.parts and decode_space(inst) in memory


def exchanges(inst: Instruction) -> bool:
    """Whether it is an atomic that computes nothing from what it finds."""
    return inst.parts[0] == "atom" and "exch" in inst.parts


def computed_from(inst: Instruction) -> Sequence[str]:
    """The registers that results are computed from, guard and old values included. How long a try_wait may take says
    when there is an answer, and not which one: libcu++'s try_wait_for begins with a limit that it never wrote."""
    if inst.parts[:2] != ["mbarrier", "try_wait"]:
        return sources(inst)
    guard = [inst.predicate[0], *destinations(inst)] if inst.predicate else []
    return [*guard, *(name for operand in inst.operands[1:3] for name in registers_of(operand))]


def observed(inst: Instruction, memory: Collection[str] = ()) -> list[str]:
    """The registers of an instruction whose values show: addresses, what is stored or handed to the host, and what
    decides where a branch goes or whether any of this happens. What is stored to `memory` is followed there."""
    name = inst.parts[0]
    guard = [inst.predicate[0]] if inst.predicate else []
    if name in ("bra", "brx", "ret", "exit", "trap"):
        return [*guard, *(register for operand in inst.operands for register in registers_of(operand))]
    if name in ("st", "red", "call", "stmatrix") and not stores_to(inst, memory):
        return [*sources(inst)]
    if name == "atom":
        return [*guard, *(register for operand in inst.operands[1:] for register in registers_of(operand))]
    addresses = [register for o in inst.operands if isinstance(o, Mem) for register in names_in(o)]
    return [*guard, *addresses] if addresses else []
