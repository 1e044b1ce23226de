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
    "shl": lambda a, b: a << min(b, 64),
    "shr": lambda a, b: a >> min(b, 64),
    "div": operator.floordiv,
    "rem": operator.mod,
    "and": operator.and_,
}
HOLDS: Mapping[str, Callable[[int, int], bool]] = {
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
    """A setp of two values of which nothing is loaded, and that are the same for all threads."""

    line: int  # of the source
    test: str
    left: str
    right: str
    made: Mapping[str, _Made]  # registers, by what sets them

    def sides(self, given: Given) -> tuple[int, int] | None:
        """What is compared; None where that is not known."""
        known: dict[str, int | None] = {}  # registers
        left, right = (self._value(item, given, known) for item in (self.left, self.right))
        return None if left is None or right is None else (left, right)

    def holds(self, left: int, right: int) -> bool:
        """Whether it is true of these."""
        return HOLDS[self.test](left, right)

    def _value(self, operand: str, given: Given, known: dict[str, int | None]) -> int | None:
        if operand not in known:
            known[operand] = None if len(known) > MOST else self._found(operand, given, known)
        return known[operand]

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
        name, wide = self.parts[0], self.parts[-1][1:]
        match name:
            case "ld" | "mov" | "cvt" | "cvta":
                (value,) = operands
            case "neg":
                value = -operands[0]
            case "mul" | "mad":
                value = operands[0] * operands[1]
                if "hi" in self.parts:
                    value >>= int(wide)
                value += operands[2] if name == "mad" else 0
            case "div" | "rem" if operands[1] == 0:
                return None
            case "shl" | "shr" if operands[1] < 0:
                return None
            case _ if name in _TWO:
                value = _TWO[name](*operands)
            case _:
                return None
        return value


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
        if parts[0] == "setp" and parts[1] in HOLDS and len(operands) == 2 and parts[-1][0] in "su":
            left, right = operands
            found.append(Comparison(line, parts[1], left, right, made))
        elif target in made or item["guard"] or not parts[-1][1:].isdigit() or parts[-1][0] not in "sub":
            several.add(target)
        else:
            plain = parts[0] != "ld" or parts[1] == "param"
            made[target] = _Made(parts, tuple(operands) if plain else ("",))
    for target in several:
        made.pop(target, None)
    return found
