"""What PTX compares with what, as far as it follows from a kernel's parameters and the shape of its launch alone, or
besides from which block and thread it is."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

Integers: TypeAlias = Any  # int | np.ndarray of int64; their operators are the same
"""One, or those of many threads. Of 64 bits, those of many are numbers with a sign."""

_Known: TypeAlias = "dict[str, Integers | None]"
"""Registers by what they hold; None: that does not follow."""

_ENTRY = r"\.entry {}\s*\(.*?^\{{\n(?P<body>.*?)^\}}"
_LINE = re.compile(
    r"^\s*(?:\.loc\s+\d+\s+(?P<line>\d+)|(?P<guard>@!?%p\d+\s+)?(?P<name>[a-z][\w.]*)\s+(?P<operands>[^;\n]*);)",
    re.M,
)
_PARAMETER = re.compile(r"\[\w+_param_(\d+)\]")
_NUMBER = re.compile(r"-?\d+|0x[0-9a-fA-F]+")
_REGISTER = re.compile(r"%(nctaid|ntid|ctaid|tid)\.([xyz])")
MOST = 200
"""Values through which a comparison is followed; what is made of more, nobody has written."""

MOST_CONDITIONS = 1000
"""Of a kernel, that are followed, each once: bounds the work for a stranger's code."""

KERNELS = 32
"""Of which the comparisons are kept."""

CONVERSIONS = 4
"""Of a counter in few bits, one behind another, that are followed: to a short, then to a char."""

_DONE: Mapping[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "min": lambda left, right: left + (right - left) * (right < left),
    "max": lambda left, right: left + (right - left) * (right > left),
    "add": operator.add,
    "sub": operator.sub,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "div": operator.floordiv,
    "rem": operator.mod,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
_FOLLOWED = frozenset({"ld", "mov", "cvta", "cvt", "mul", "mad", *_DONE})
"""Instructions of which is known what they make."""

_OF_THREADS = ("%tid.", "%ctaid.")
_HOLDS: Mapping[str, Callable[[Integers, Integers], Any]] = {
    "lt": operator.lt, "lo": operator.lt, "le": operator.le, "ls": operator.le, "gt": operator.gt,
    "hi": operator.gt, "ge": operator.ge, "hs": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


@dataclass(frozen=True)
class Given:
    """What one launch is given."""

    arguments: Sequence[int | None]  # None: no integer
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    blocks: Sequence[Integers] | None = None  # x, y and z of blocks, and of threads in them; None: any
    threads: Sequence[Integers] | None = None

    def register(self, name: str, axis: int) -> Integers | None:
        """What a special register holds along x, y or z."""
        of_axes = {"nctaid": self.grid, "ntid": self.block, "ctaid": self.blocks, "tid": self.threads}[name]
        return None if of_axes is None else of_axes[axis]


@dataclass(frozen=True)
class _Side:
    """One side of a comparison."""

    operand: str
    steps: Mapping[str, _Made] | None
    """Registers that it is made of, each behind those that it is made of itself; None where it is not followed."""

    @classmethod
    def of(cls, operand: str, made: Mapping[str, _Made]) -> _Side:
        steps: dict[str, _Made | None] = {}
        followed = _follow(operand, made, steps)
        return cls(operand, {each: way for each, way in steps.items() if way} if followed else None)

    @property
    def of_launch(self) -> bool:
        """Whether it is the same for all threads of a launch."""
        if self.steps is None:
            return False
        made_of = {self.operand, *(each for way in self.steps.values() for each in way.operands)}
        return not any(each.startswith(_OF_THREADS) for each in made_of)

    def value(self, given: Given, known: _Known) -> Integers | None:
        """What it is; None where that does not follow. `known` are registers, and will be those that it is made of."""
        if self.steps is None:
            return None
        for register, way in self.steps.items():
            if register not in known:
                known[register] = way.made_of(given, known)
        return _operand(self.operand, given, known)


@dataclass(frozen=True)
class Comparison:
    """A setp of integers, or a limit."""

    line: int  # of the source
    test: str
    kind: str  # the type as which both sides are compared
    left: _Side
    right: _Side
    counted: Mapping[str, int]  # registers that loops count in few bits, by the largest number that they hold
    of_limit: bool = False  # whether it is a minimum with a number, as of the turns that a loop may make

    @property
    def of_launch(self) -> bool:
        """Whether it comes out alike for all threads of a launch, and is known from what that is given."""
        return self.left.of_launch and self.right.of_launch

    def sides(self, given: Given, known: _Known | None = None) -> tuple[Integers, Integers] | None:
        """The integers that are compared; None where they do not follow from what a launch is given. Comparisons of one
        kernel that are given the same may share what is `known`."""
        known = {} if known is None else known
        left, right = (side.value(given, known) for side in (self.left, self.right))
        return None if left is None or right is None else (_as(self.kind, left), _as(self.kind, right))

    def out_of_reach(self, given: Given) -> tuple[int, int] | None:
        """The largest number that a loop counts to, in few bits, and the larger one that it is compared with; None
        where it is none."""
        for counter, other in ((self.left, self.right), (self.right, self.left)):
            most = self.counted.get(counter.operand)
            bound = None if most is None else other.value(given, {})
            if most is not None and isinstance(bound, int) and bound > most:
                return most, bound
        return None

    def holds(self, left: Integers, right: Integers) -> Any:
        """Whether it is true of these."""
        return _HOLDS[self.test](left, right)


def _follow(operand: str, made: Mapping[str, _Made], steps: dict[str, _Made | None]) -> bool:
    """Whether it is followed; adds the registers that it is made of."""
    if operand in steps:
        return steps[operand] is not None  # else it is made of itself
    way = made.get(operand)
    if way is None:
        return _reading(operand) is not None
    if way.parts[0] not in _FOLLOWED or len(steps) >= MOST:
        return False
    steps[operand] = None
    if not all(_follow(each, made, steps) for each in way.operands):
        return False
    del steps[operand]
    steps[operand] = way
    return True


def _operand(operand: str, given: Given, known: _Known) -> Integers | None:
    if operand in known:
        return known[operand]
    read = _reading(operand)
    return read(given) if read else None


@lru_cache(maxsize=4096)
def _reading(operand: str) -> Callable[[Given], Integers | None] | None:
    """What gives a parameter, a special register or a number; None of other operands."""
    if parameter := _PARAMETER.fullmatch(operand):
        index = int(parameter[1])
        return lambda given: given.arguments[index]
    if special := _REGISTER.fullmatch(operand):
        name, axis = special[1], "xyz".index(special[2])
        return lambda given: given.register(name, axis)
    if _NUMBER.fullmatch(operand):
        number = int(operand, 0)
        return lambda _: number
    return None


@dataclass(frozen=True)
class _Made:
    """The only instruction that sets a register."""

    parts: tuple[str, ...]
    operands: tuple[str, ...]

    @property
    def most(self) -> int | None:
        """The largest number that it makes where it leaves few bits of another; None where it does not."""
        if self.parts[0] == "and" and self.operands[-1] in ("255", "65535"):
            return int(self.operands[-1])
        kind = self.parts[-1]
        if self.parts[0] != "cvt" or kind not in ("u8", "s8", "u16", "s16"):
            return None
        return (1 << int(kind[1:]) - (kind[0] == "s")) - 1

    def made_of(self, given: Given, known: _Known) -> Integers | None:
        """The integer that it makes; None where that does not follow."""
        values = []
        for each in self.operands:
            value = _operand(each, given, known)
            if value is None:
                return None
            values.append(value)
        return self.value(values)

    def value(self, operands: Sequence[Integers]) -> Integers | None:
        """The integer that it makes of these; None where that does not follow."""
        name, kind = self.parts[0], self.parts[-1]
        bits = int(kind[1:])
        if any(isinstance(each, np.ndarray) for each in operands):
            operands = [np.array([_as("s64", each)]) if isinstance(each, int) else each for each in operands]
        first, *others = (_as(kind, each) for each in operands)
        if name in ("ld", "mov", "cvta"):
            return first
        if name == "cvt":
            return _as(self.parts[-2], first) if self.parts[-2][0] in "sub" else None
        if name in ("mul", "mad"):
            return self._product(first, others[0], operands[2] if name == "mad" else 0)
        if name in ("div", "rem") and np.any(others[0] == 0):
            return None
        if name in ("shl", "shr") and np.any((others[0] < 0) | (others[0] >= bits)):
            return None
        if name == "shr" and kind[0] != "s" and np.any(first < 0):  # of many, which have a sign here
            return None
        return _as(kind, _DONE[name](first, *others))

    def _product(self, left: Integers, right: Integers, more: Integers) -> Integers | None:
        kind = self.parts[-1]
        bits = int(kind[1:])
        product = left * right
        if "hi" in self.parts:
            if bits == 64 and isinstance(product, np.ndarray):
                return None
            product >>= bits
        return _as(f"{kind[0]}{2 * bits}" if "wide" in self.parts else kind, product + more)


def _as(kind: str, value: Integers) -> Integers:
    """The number that the bits of a value stand for in a type such as s32."""
    bits = int(kind[1:])
    if bits == 64 and not isinstance(value, int):
        return value
    half = 1 << (bits - 1) if kind[0] == "s" else 0
    return ((value + half) & ((1 << bits) - 1)) - half


def body(ptx: str, symbol: str) -> str:
    """A kernel's own instructions, without those of functions that it calls; "" where there is no such kernel."""
    entry = re.search(_ENTRY.format(re.escape(symbol)), ptx, re.S | re.M)
    return entry["body"] if entry else ""


@lru_cache(maxsize=KERNELS)
def of(ptx: str, symbol: str) -> tuple[Comparison, ...]:
    """All of a kernel's comparisons of integers, then its limits. The last ones asked for are kept: large sizes,
    blocks and conditions ask for them one after another."""
    every: dict[str, list[_Made | None]] = {}  # by register, what sets it; None: not followed
    made: dict[str, _Made] = {}
    counted: dict[str, int] = {}
    found, limits = [], []
    line = 0
    for item in _LINE.finditer(body(ptx, symbol)):
        if item["line"]:
            line = int(item["line"])
            continue
        parts = tuple(item["name"].split("."))
        target, *operands = re.split(r",\s*(?![^{]*\})", item["operands"].strip())
        if parts[0] == "setp" and parts[1] in _HOLDS and len(operands) == 2 and parts[-1][0] in "su":
            found.append((line, parts[1], parts[-1], *operands, False))
            continue
        if parts[0] == "min" and parts[-1][0] in "su" and operands[-1].lstrip("-").isdecimal():
            limits.append((line, "le", parts[-1], *operands, True))
        known = operands and not item["guard"] and parts[-1][1:].isdecimal() and parts[-1][0] in "sub"
        plain = parts[0] != "ld" or parts[1] == "param"
        every.setdefault(target, []).append(
            _Made(parts, tuple(operands) if plain else ("",)) if known else None
        )
    for register, ways in every.items():
        if len(ways) == 1 and ways[0] is not None:
            made[register] = ways[0]
        most = _most(register, every)
        if most is not None:
            counted[register] = most
    return tuple(
        Comparison(line, test, kind, _Side.of(left, made), _Side.of(right, made), counted, of_limit)
        for line, test, kind, left, right, of_limit in (*found, *limits)
    )


def _most(register: str, every: Mapping[str, Sequence[_Made | None]]) -> int | None:
    """The largest number in a register that a loop sets, or that is made of one, where that has few bits."""
    most = [None if way is None else way.most for way in every[register]]
    known = [number for number in most if number is not None]
    return max(known) if len(known) == len(most) and _in_a_loop(register, every) else None


def _in_a_loop(register: str, every: Mapping[str, Sequence[_Made | None]]) -> bool:
    """Whether several instructions set a register, or the one from which it is converted."""
    for _ in range(CONVERSIONS):
        ways = every.get(register, ())
        if len(ways) != 1 or ways[0] is None or ways[0].most is None:
            return len(ways) > 1
        register = ways[0].operands[0]
    return False
