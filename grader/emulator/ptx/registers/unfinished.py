"""Registers that a wgmma under way may still use, and those whose values reach one; may-analyses.

The compiler surrounds inline assembly with moves: what is one array of accumulators in the source is several registers
in PTX. A move therefore touches nothing; what is known of a value goes with it. Arithmetic the compiler may put off to
behind a fence, for nothing in its operands says that it must not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from grader.emulator.ptx.instructions import destinations, is_warpgroup_product, registers_of, sources
from grader.emulator.ptx.tree import Instruction, Vec

_MOVES = ("mov", "selp")
_FIXED = frozenset(
    ("atom", "shfl", "vote", "match", "redux", "elect", "activemask", "call", "ldmatrix", "movmatrix", "mma", "wmma",
     "wgmma")
)  # fmt: skip
"""What stays where the source has it, besides loads of what may change."""


@dataclass(frozen=True)
class WarpgroupRegisters:
    """Empty sets where a kernel has no wgmma."""

    accumulators: set[str]
    """Registers that may hold the sums of one that is not finished."""
    factors: set[str]
    """Registers that are an operand A."""
    reaching: set[str]
    """Registers whose values may become an operand, or are computed with on the way there."""

    def touched(self, inst: Instruction) -> set[str]:
        """Those that an instruction reads or writes in a way that has to wait."""
        if is_move(inst) or is_warpgroup_product(inst):
            return set()
        written = set(destinations(inst))
        return (written | set(sources(inst))) & self.accumulators | written & self.factors


def is_move(inst: Instruction) -> bool:
    return inst.parts[0] in _MOVES


def is_movable(inst: Instruction) -> bool:
    """Whether the compiler may execute it later than the source says."""
    if inst.parts[0] in ("ld", "ldu"):
        return not {"param", "const", "nc"}.isdisjoint(inst.parts)
    return inst.parts[0] not in _FIXED


def accumulators_of(inst: Instruction) -> list[str]:
    return registers_of(inst.operands[0])


def factors_of(inst: Instruction) -> list[str]:
    """The registers of operand A, where it does not lie in shared memory."""
    return registers_of(inst.operands[1]) if isinstance(inst.operands[1], Vec) else []


def warpgroup_registers(instructions: Iterable[Instruction]) -> WarpgroupRegisters:
    everything = list(instructions)
    products = [inst for inst in everything if is_warpgroup_product(inst)]
    moves = [inst for inst in everything if is_move(inst)] if products else []
    movable = [inst for inst in everything if is_movable(inst)] if products else []
    sums = {name for inst in products for name in accumulators_of(inst)}
    factors = {name for inst in products for name in factors_of(inst)}
    reaching = sums | factors
    while True:
        forward = {
            name for inst in moves if not sums.isdisjoint(sources(inst)) for name in destinations(inst)
        }
        backward = {
            name for inst in movable if not reaching.isdisjoint(destinations(inst)) for name in sources(inst)
        }
        if forward <= sums and backward <= reaching:
            return WarpgroupRegisters(sums, factors, reaching)
        sums, reaching = sums | forward, reaching | backward
