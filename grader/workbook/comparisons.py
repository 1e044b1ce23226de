"""What PTX compares with what, as far as it follows from a kernel's parameters and the shape of its launch alone."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_ENTRY = r"\.entry {}\s*\(.*?^\{{\n(?P<body>.*?)^\}}"
_LINE = re.compile(
    r"^\s*(?:\.loc\s+\d+\s+(?P<line>\d+)|(?P<guard>@!?%p\d+\s+)?(?P<name>[a-z][\w.]*)\s+(?P<operands>[^;\n]*);)",
    re.M,
)
_PARAMETER = re.compile(r"\[\w+_param_(\d+)\]")
_SHAPE = re.compile(r"%(nctaid|ntid)\.([xyz])")
MOST = 200
"""Values through which a comparison is followed; what is made of more, nobody has written."""

_TWO: Mapping[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "min": min,
    "max": max,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "div": operator.floordiv,
    "rem": operator.mod,
    "and": operator.and_,
}
_HOLDS: Mapping[str, Callable[[int, int], bool]] = {
    "lt": operator.lt, "lo": operator.lt, "le": operator.le, "ls": operator.le, "gt": operator.gt,
    "hi": operator.gt, "ge": operator.ge, "hs": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


@dataclass(frozen=True)
class Given:
    """What one launch is given."""

    arguments: Sequence[int | None]  # None: no integer
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


@dataclass(frozen=True)
class Comparison:
    """A setp of integers."""

    line: int  # of the source
    test: str
    kind: str  # the type as which both sides are compared
    left: str
    right: str
    made: Mapping[str, _Made]  # registers, by what sets them

    def sides(self, given: Given) -> tuple[int, int] | None:
        """What is compared; None where that does not follow from what a launch is given."""
        known: dict[str, int | None] = {}  # operands
        left, right = (self._value(item, given, known) for item in (self.left, self.right))
        return None if left is None or right is None else (_as(self.kind, left), _as(self.kind, right))

    def holds(self, left: int, right: int) -> bool:
        """Whether it is true of these."""
        return _HOLDS[self.test](left, right)

    def _value(self, operand: str, given: Given, known: dict[str, int | None]) -> int | None:
        if operand not in known and len(known) < MOST:
            known[operand] = None  # as long as it is looked for: it may be made of itself
            known[operand] = self._found(operand, given, known)
        return known.get(operand)

    def _found(self, operand: str, given: Given, known: dict[str, int | None]) -> int | None:
        if parameter := _PARAMETER.fullmatch(operand):
            return given.arguments[int(parameter[1])]
        if shape := _SHAPE.fullmatch(operand):
            return (given.grid if shape[1] == "nctaid" else given.block)["xyz".index(shape[2])]
        if re.fullmatch(r"-?\d+|0x[0-9a-fA-F]+", operand):
            return int(operand, 0)
        made = self.made.get(operand)
        if made is None:
            return None
        values = []
        for each in made.operands:
            value = self._value(each, given, known)
            if value is None:
                return None
            values.append(value)
        return made.value(values)


@dataclass(frozen=True)
class _Made:
    """The only instruction that sets a register."""

    parts: tuple[str, ...]
    operands: tuple[str, ...]

    def value(self, operands: Sequence[int]) -> int | None:
        """The integer that it makes; None for an instruction that is not followed."""
        name, kind = self.parts[0], self.parts[-1]
        bits = int(kind[1:])
        made = 2 * bits if "wide" in self.parts else bits
        first, *others = (_as(kind, each) for each in operands)
        match name:
            case "ld" | "mov" | "cvta":
                value = first
            case "cvt" if self.parts[-2][0] in "sub":
                return _as(self.parts[-2], first)
            case "neg":
                value = -first
            case "mul" | "mad":
                value = first * others[0]
                if "hi" in self.parts:
                    value >>= bits
                value += operands[2] if name == "mad" else 0
            case "div" | "rem" if others[0] == 0:
                return None
            case "shl" | "shr" if not 0 <= others[0] < bits:
                return None
            case _ if name in _TWO:
                value = _TWO[name](first, others[0])
            case _:
                return None
        return _as(f"{kind[0]}{made}", value)


def _as(kind: str, value: int) -> int:
    """The number that the bits of a value stand for in a type such as s32."""
    bits = int(kind[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value


def of(ptx: str, symbol: str) -> list[Comparison]:
    """All of a kernel's comparisons of integers."""
    entry = re.search(_ENTRY.format(re.escape(symbol)), ptx, re.S | re.M)
    made: dict[str, _Made] = {}
    several: set[str] = set()
    found: list[Comparison] = []
    line = 0
    for item in _LINE.finditer(entry["body"]) if entry else ():
        if item["line"]:
            line = int(item["line"])
            continue
        parts = tuple(item["name"].split("."))
        target, *operands = re.split(r",\s*(?![^{]*\})", item["operands"].strip())
        if parts[0] == "setp" and parts[1] in _HOLDS and len(operands) == 2 and parts[-1][0] in "su":
            left, right = operands
            found.append(Comparison(line, parts[1], parts[-1], left, right, made))
        elif target in made or item["guard"] or not parts[-1][1:].isdigit() or parts[-1][0] not in "sub":
            several.add(target)
        else:
            plain = parts[0] != "ld" or parts[1] == "param"
            made[target] = _Made(parts, tuple(operands) if plain else ("",))
    for target in several:
        made.pop(target, None)
    return found
