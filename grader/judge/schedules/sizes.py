"""Further sizes at which a schedule is checked and followed, since it may do otherwise there.

A whole number in its text may be a threshold, a divisor or a tile: each size of the problem is tried just below it, at
it and just beyond, with even and odd others. A chunk, as the copies at the main sizes show it, is tried with few whole
ones, and with one element more. Numbers that sizes are compared with are passed by several sizes at a time, in chunks
as well.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product

from grader.emulator.streams.commands import Copy, Recording
from grader.workbook.reference import Problem
from grader.workbook.topic import ScheduleTopic

MOST = 96
"""Problems that are tried, the smallest ones."""

MOST_CALLS = 4096
"""When a schedule has asked for more in them, no further ones are tried."""

MOST_CHUNKS = 9
"""More than a ring or a group of chunks has."""

BESIDE = (-2, -1, 1, 2)
"""From a number that a size is compared with: even and odd ones on both sides."""

OF_TWO_CHUNKS = 3
"""Which of the chunked problems has two chunks and an element more."""

MOST_OF_NO_ARRAY = 1 << 16
"""Of a size that no array has, as of the rounds of a kernel, up to which numbers that it is compared with are passed:
nothing becomes larger, but a schedule may ask for so many launches."""

_LARGEST = 1 << 40
"""No size, and no number on the way to one, is larger."""

_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
    ast.Pow: operator.pow,
}


def further(topic: ScheduleTopic, source: str, at_main: Recording) -> list[Problem]:
    """Those of a schedule of this text, from what it asks for at the main sizes; the smallest first."""
    chunks = [*_chunks(topic, at_main)]
    found = [*chunks, *_around_numbers(topic, source), *_around_comparisons(topic, source, chunks)]
    different = {tuple(problem[name] for name in topic.sizes_count): problem for problem in found}
    return sorted(different.values(), key=topic.reference.min_bytes)[:MOST]


def _around_numbers(topic: ScheduleTopic, source: str) -> Iterator[Problem]:
    usual, most = topic.sizes_count, _most(topic)
    for number, name, more, odd in product(sorted(numbers(source)), usual, (-1, 0, 1), (0, 1)):
        if 1 <= number + more <= most[name]:
            others = {other: size + odd for other, size in usual.items()}
            yield {**others, name: number + more}


def _around_comparisons(topic: ScheduleTopic, source: str, chunks: Sequence[Problem]) -> Iterator[Problem]:
    """Several sizes at once on both sides of what they are compared with, or as usual, even and odd; or one of them
    with two chunks and an element more."""
    usual, most, known = topic.sizes_count, _most(topic), compared(source, topic.sizes_count)
    of_arrays = {name for sides in topic.kernel.shapes.values() for side in sides for name in side.names}
    most |= {name: max(size, MOST_OF_NO_ARRAY) for name, size in most.items() if name not in of_arrays}
    if not any(known.values()):
        return
    sides = {
        name: {size, size + 1, *(number + more for number in known[name] for more in BESIDE)}
        for name, size in usual.items()
    }
    for problem in chunks[OF_TWO_CHUNKS : OF_TWO_CHUNKS + 1]:
        for name in usual:
            sides[name] |= {problem[name]}
    for values in product(*(sorted(sides[name]) for name in usual)):
        problem = dict(zip(usual, values, strict=True))
        if all(1 <= value <= most[name] for name, value in problem.items()):
            yield problem


def _chunks(topic: ScheduleTopic, at_main: Recording) -> Iterator[Problem]:
    """Whole chunks, and one element more, of arrays that are as long as one size says."""
    copied = Counter(item.nbytes for item in at_main.expanded() if isinstance(item, Copy))
    (given, *_), most = topic.signature.inputs, _most(topic)
    sides = topic.kernel.shapes[given.name]
    names = sides[0].names if len(sides) == 1 else ()
    for (nbytes, _), name in product(copied.most_common(1), names):
        chunk = nbytes // given.dtype.itemsize
        for number, more in product(range(1, MOST_CHUNKS + 1), (0, 1)):
            if 1 <= number * chunk + more <= most[name]:
                yield {**topic.sizes_count, name: number * chunk + more}


def _most(topic: ScheduleTopic) -> dict[str, int]:
    """The largest that each size is where the topic is judged."""
    known = (*topic.judge_cases, *topic.kernel.check_sizes, topic.sizes_main)
    return {name: max(int(problem[name]) for problem in known) for name in topic.sizes_count}


def numbers(source: str) -> set[int]:
    """The whole numbers of a text from 2 on, and what it makes of them and of the module's own numbers."""
    return {number for number in _all_values(ast.parse(source)).values() if number > 1}


def compared(source: str, names: Iterable[str]) -> dict[str, set[int]]:
    """The numbers from 2 on with which a text compares each size, or something that names it. A comparison that names
    no size may be about any."""
    tree = ast.parse(source)
    values = _all_values(tree)
    found: dict[str, set[int]] = {name: set() for name in names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            with_what = {values[side] for side in (node.left, *node.comparators) if side in values}
            for name in found.keys() & _named(node) or found.keys():
                found[name] |= {number for number in with_what if number > 1}
    return found


def _named(node: ast.AST) -> set[str]:
    """The names in an expression, and those of attributes."""
    inner = list(ast.walk(node))
    attributes = {item.attr for item in inner if isinstance(item, ast.Attribute)}
    return attributes | {item.id for item in inner if isinstance(item, ast.Name)}


def _all_values(tree: ast.Module) -> dict[ast.AST, int]:
    """The parts of a text that are whole numbers whatever the problem."""
    named: dict[str, int] = {}
    found: dict[ast.AST, int] = {}
    for statement in tree.body:
        values = _values(statement, named)
        found |= values
        if isinstance(statement, ast.Assign) and statement.value in values:
            targets = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            named |= dict.fromkeys(targets, values[statement.value])
    return found


def _values(statement: ast.stmt, named: Mapping[str, int]) -> dict[ast.AST, int]:
    """The parts of a statement that are whole numbers whatever the problem."""
    values: dict[ast.AST, int] = {}
    for node in reversed([*ast.walk(statement)]):  # operands before what is made of them
        match node:
            case ast.Constant(value=int(number)) if abs(number) < _LARGEST:
                values[node] = int(number)
            case ast.Constant(value=float(number)) if number.is_integer() and abs(number) < _LARGEST:
                values[node] = int(number)
            case ast.Name(id=name) if name in named:
                values[node] = named[name]
            case ast.BinOp(left, op, right) if left in values and right in values:
                value = _result(op, values[left], values[right])
                if value is not None:
                    values[node] = value
    return values


def _result(op: ast.operator, left: int, right: int) -> int | None:
    """What an operator makes of two numbers, if it is no larger than a size may be."""
    powers = isinstance(op, ast.LShift | ast.Pow) and not 0 <= right <= _LARGEST.bit_length()
    if powers or (isinstance(op, ast.FloorDiv) and right == 0) or type(op) not in _OPERATORS:
        return None
    value = _OPERATORS[type(op)](left, right)
    return value if abs(value) < _LARGEST else None
