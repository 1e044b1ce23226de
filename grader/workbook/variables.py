"""What the variables of an index hold in one thread, as far as a kernel's text says: integers that are set once, from
the launch, the problem's sizes, constants and each other."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from math import prod

from grader.workbook.cuda_source import index_of, lines_of_kernel, numbers, statement

_MOST = 12
"""Variables that are followed, one from the other."""

_LONGEST, _MOST_LINES = 120, 400
"""Characters of an expression, and lines of a kernel, that are looked at."""

_INTEGER = r"(?:const\s+|constexpr\s+)*(?:(?:unsigned|signed|long|short|int|size_t|auto|u?int\d+_t)\s+)+(?:const\s+)?"
_DECLARED = re.compile(rf"(?<![\w<(]){_INTEGER}((?:[^;(){{}}]|\((?:[^()]|\([^()]*\))*\))+);")
_SET = re.compile(r"\b(\w+)\s*=(?!=)")
_VALUE = r"\s*((?:[^,();]|\((?:[^()]|\([^()]*\))*\))+)"
_CAST = re.compile(
    r"\(\s*(?:unsigned|int|size_t|long|(?:unsigned\s+)?long\s+long|unsigned\s+int|u?int\d+_t)\s*\)"
    r"|\b(?:unsigned|int|size_t|u?int\d+_t|static_cast\s*<[\w\s]+>)(?=\s*\()"
)
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?![\w.(])")
_SUFFIX = re.compile(r"(?<=\d)[uUlL]+\b")


def _quotient(a: int, b: int) -> int:
    """Towards zero, as in C++."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_BINARY: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _quotient,
    ast.Mod: lambda a, b: a - b * _quotient(a, b),
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: lambda a, b: a << min(b, 64),
    ast.RShift: operator.rshift,
}


class _UnknownError(Exception):
    """It is not to be seen what an expression is."""


@dataclass(frozen=True)
class Thread:
    """A thread of a launch, and the sizes of the problem."""

    thread: tuple[int, ...]
    block: tuple[int, ...]
    threads: tuple[int, ...]
    blocks: tuple[int, ...]
    sizes: Mapping[str, float]

    def known(self) -> dict[str, int]:
        """By name: what CUDA sets."""
        places = {
            "threadIdx": self.thread,
            "blockIdx": self.block,
            "blockDim": self.threads,
            "gridDim": self.blocks,
        }
        found = {
            f"{name}.{axis}": value
            for name, values in places.items()
            for axis, value in zip_longest("xyz", values, fillvalue=0)
        }
        return {"warpSize": 32, **found}

    @property
    def whole(self) -> dict[str, int]:
        """The sizes that are whole numbers."""
        return {name: value for name, value in self.sizes.items() if isinstance(value, int)}


@dataclass(frozen=True)
class Accessed:
    """What a line accesses of an array: the element of the flat array, and how many from there on."""

    array: str
    shape: tuple[int, ...]
    element: int
    many: int = 1
    own: bool = False  # a block's own, so that what an index has of blockIdx shows


def of_index(source: str, line: int, accessed: Accessed, thread: Thread) -> tuple[str, ...]:
    """What an index in a line is made of, and what that is in a thread: `last = N - first = 1`, `N = 1`. () where that
    is not to be seen, does not lead to what was accessed, or says no more than that."""
    kernel = lines_of_kernel(source, line)
    parts = _indices(source, line, accessed.array)
    if not 0 < len(kernel) <= _MOST_LINES or len(parts) not in (1, len(accessed.shape)):
        return ()
    followed = _Followed(kernel, line, thread.whole, {**numbers(source), **thread.known()})
    try:
        values = [followed.value(part) for part in parts]
        extents = accessed.shape[1:] if len(parts) > 1 else ()
        flat = sum(value * prod(extents[at:]) for at, value in enumerate(values))
        if not flat * accessed.many <= accessed.element < (flat + 1) * accessed.many:
            return ()
        names = dict.fromkeys(name for part in parts for name in followed.named(part))
        computed = [part for part in parts if len(parts) > 1 and not part.isidentifier()]
        told = tuple(followed.told(each, accessed.own) for each in (*names, *computed))
    except _UnknownError:
        return ()
    return () if told == (f"{parts[0]} = {accessed.element}",) else told


def _indices(source: str, line: int, array: str) -> list[str]:
    """By which texts a line indexes an array, dimension by dimension; [] where it does so in several ways."""
    found = re.findall(rf"\b{re.escape(array)}\s*((?:\[[^\[\]]*\]\s*)+)", statement(source, line))
    if len(set(found)) > 1:
        return []
    parts = [part.strip() for each in found[:1] for part in re.findall(r"\[([^\[\]]*)\]", each)]
    index, _ = index_of(source, line, array)
    return parts or ([index] if index else [])


class _Followed:
    """The variables of a kernel that are set once; where there is no loop, by what stands last above a line."""

    def __init__(
        self, lines: Mapping[int, str], line: int, sizes: Mapping[str, int], known: Mapping[str, int]
    ) -> None:
        self._sizes = sizes
        self._known = {**known, **sizes}
        self._set: dict[str, str] = {}
        text = "\n".join(lines.values())
        loops = re.search(r"\b(?:for|while|do)\b", text)
        above = text if loops else "\n".join(lines[number] for number in lines if number <= line)
        for name in {name for declarators in _DECLARED.findall(text) for name in _SET.findall(declarators)}:
            set_to = re.findall(rf"(?<![\w.]){name}\s*=(?!=){_VALUE}", above)
            changed = re.search(rf"\b{name}\s*(?:(?:[-+*/%&|^]|<<|>>)=|\+\+|--)|(?:\+\+|--)\s*{name}\b", text)
            if set_to and not changed and (len(set_to) == 1 or not loops):
                self._set[name] = set_to[-1].strip()

    def named(self, expression: str) -> list[str]:
        """The variables and sizes of an expression, and of what its only variable was set to."""
        names = [*filter(self._varies, _NAME.findall(_plain(expression)))]
        return [*names, *self.named(self._set[expression])] if expression in self._set else names

    def _varies(self, name: str) -> bool:
        return name in self._set or name in self._sizes

    def told(self, expression: str, by_block: bool) -> str:
        """What it is, with what it was set to where that names other variables or sizes, or the block."""
        was_set = self._set.get(expression, "")
        shows = any(map(self._varies, _NAME.findall(was_set))) or (by_block and "blockIdx" in was_set)
        formed = [was_set] if shows else []
        return " = ".join([expression, *formed, str(self.value(expression))])

    def value(self, expression: str, left: int = _MOST) -> int:
        """What it is; raises _UnknownError."""
        if left == 0 or len(expression) > _LONGEST:
            raise _UnknownError
        try:
            found = self._of(ast.parse(_plain(expression), mode="eval").body, left)
        except (SyntaxError, ValueError, RecursionError, ZeroDivisionError):
            raise _UnknownError from None
        if not -(2**31) <= found < 2**31:  # what comes out hangs on its type
            raise _UnknownError
        return found

    def _of(self, tree: ast.expr, left: int) -> int:
        match tree:
            case ast.Constant(value=int() as value):
                return value
            case ast.Name() | ast.Attribute():
                name = ast.unparse(tree)
                if name in self._set:
                    return self.value(self._set[name], left - 1)
                if name in self._known:
                    return self._known[name]
            case ast.BinOp(op=op) if type(op) in _BINARY:
                return _BINARY[type(op)](self._of(tree.left, left), self._of(tree.right, left))
            case ast.UnaryOp(op=ast.USub()):
                return -self._of(tree.operand, left)
        raise _UnknownError


def _plain(expression: str) -> str:
    return _SUFFIX.sub("", _CAST.sub("", expression)).strip()
