"""Where a launch first made an infinity and a NaN, from what watched code has noted (codegen/origins.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from grader.emulator.machine.findings import unravel
from grader.emulator.machine.records import Origin, Shape
from grader.emulator.machine.worker import aligned
from grader.emulator.ptx.instructions import destinations, sources
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.ptx.tree import Instruction
from grader.emulator.runtime import layout

Watch = Literal["never", "always", "once stored"]
"""Whether a launch looks for them; or is undone and run again so, where it has stored a NaN that arithmetic makes, as
long as none has been found on that machine."""


class Origins:
    """The notes of one launch, whose blocks are run by one thread."""

    def __init__(self) -> None:
        self.notes = aligned(2 * layout.ORIGIN_SLOTS * 8).reshape(2, layout.ORIGIN_SLOTS)

    def first(self, slot: int, plan: KernelPlan, grid: Shape, block: Shape) -> Origin | None:
        """What FIRST_INFINITY or FIRST_NAN holds; None where nothing has been made."""
        note = self.notes[slot]
        number = int(note[layout.ORIGIN_INSTRUCTION])
        if number == 0 or plan.watched is None:
            return None
        inst = plan.watched[number - 1]
        operands = note[layout.ORIGIN_OPERANDS :].view(np.float64)
        count = 1 if inst.parts[0] == "cvt" else len(inst.operands) - 1
        values = tuple(float(value) for value in operands[:count])
        return Origin(
            place=inst.place,
            opcode=inst.opcode,
            operands=tuple(f"{value:.6g}" for value in values),
            of_exponential=_is_exponential(inst, plan.watched)
            and (count == 1 or any(map(_is_power_of_two, values))),
            block=unravel(int(note[layout.ORIGIN_BLOCK]), grid),
            thread=unravel(int(note[layout.ORIGIN_THREAD]), block),
        )


def _is_exponential(inst: Instruction, watched: Sequence[Instruction]) -> bool:
    """Whether it is ex2, or a product of one."""
    made = {name for one in watched if one.parts[0] == "ex2" for name in destinations(one)}
    return inst.parts[0] == "ex2" or (inst.parts[0] == "mul" and not made.isdisjoint(sources(inst)))


def _is_power_of_two(value: float) -> bool:
    return math.frexp(value)[0] == 0.5
