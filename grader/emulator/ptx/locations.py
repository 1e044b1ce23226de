"""Which instruction stands where (PTX ISA 11.5): `.loc`, and the calls that were inlined.

`inlined_at` names the line of a call and not which of its copies. Where a function was itself inlined several times,
its calls have one position: the compiler says of which copy when it comes to a copy's line for the first time, by a
`.loc` of that right before, and never again. Behind that, an operand tells that is made for the one instruction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from grader.emulator.places import UNKNOWN, Place
from grader.emulator.ptx.instructions import destinations, registers_of, sources
from grader.emulator.ptx.tree import Instruction, Label, Mem

Position = tuple[int, int, int]
"""The number of a file, a line and a column."""


class Locations:
    """Those of one function."""

    def __init__(self, files: Mapping[int, str]) -> None:
        self._files = files
        self.here = UNKNOWN
        self._position: Position = 0, 0, 0
        self._outer: Position | None = None
        """Where the call was inlined, if it is open of which copy."""
        self._copies: dict[Position, list[Place]] = defaultdict(list)
        """The places that a position was said to be, the last of them at the end."""
        self._said: dict[Position, int] = {}
        """How many instructions stood in front of that."""
        self._open: list[tuple[Instruction, Position, Position]] = []

    @property
    def file(self) -> int:
        """The number of the file that the code here stands in, whoever has written it."""
        return self._position[0]

    def loc(self, position: Position, calls: Iterable[Position], instructions: int) -> None:
        """A `.loc` behind so many instructions; `calls`: where it was inlined, the innermost first."""
        caller = None
        self._position, self._outer = position, None
        for outer in calls:
            known = self._copies[outer]
            caller = known[-1] if known else self._place(outer, None)
            self._outer = outer if self._said.get(outer, instructions) != instructions else None
        self.here = self._place(position, caller)
        copies = self._copies[position]
        if self.here in copies:
            copies.remove(self.here)
        copies.append(self.here)
        self._said[position] = instructions

    def note(self, instruction: Instruction) -> None:
        """An instruction that stands here."""
        if self._outer is not None:
            self._open.append((instruction, self._position, self._outer))

    def settle(self, body: list[Instruction | Label]) -> None:
        """Give those instructions their places of which the `.loc` alone does not tell of which copy they are."""
        unsettled = [each for each in self._open if len(self._copies[each[2]]) > 1]
        if not unsettled:
            return
        writers: dict[str, list[Instruction]] = defaultdict(list)
        reads: Counter[str] = Counter()
        for item in body:
            if isinstance(item, Instruction):
                reads.update(set(sources(item)))
                for name in destinations(item):
                    writers[name].append(item)
        for instruction, position, outer in unsettled:
            copies = set(self._copies[outer])
            own = [name for name in [*_address(instruction), *sources(instruction)] if reads[name] == 1]
            for name in own:  # what others read, too, may be of another copy
                stacks = (writer.place.stack() for writer in writers[name])
                if found := {place for stack in stacks for place in stack if place in copies}:
                    common: Place | None = found.pop()
                    for place in found:
                        common = _common(common, place)
                    instruction.place = self._place(position, common)
                    break

    def _place(self, position: Position, caller: Place | None) -> Place:
        number, line, _ = position
        if caller is not None and not caller.line:
            caller = None
        if number not in self._files:
            return caller or UNKNOWN
        return Place(self._files[number], line, caller)


def _address(instruction: Instruction) -> list[str]:
    return [
        name
        for operand in instruction.operands
        if isinstance(operand, Mem)
        for name in registers_of(operand.base)
    ]


def _common(one: Place | None, other: Place | None) -> Place | None:
    """What two have in common, from the innermost on: the compiler has made one instruction of two copies."""
    if one is None or other is None or (one.file, one.line) != (other.file, other.line):
        return None
    return replace(one, caller=_common(one.caller, other.caller))
