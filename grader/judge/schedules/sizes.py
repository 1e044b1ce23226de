"""Further sizes at which a schedule is checked and followed, since it may do otherwise there.

A whole number in its text may be a threshold, a divisor or a tile: each size of the problem is tried just below it, at
it and just beyond, with even and odd others. A chunk, as the copies at the main sizes show it, is tried with few whole
ones, and with one element more.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
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
    found = [*_chunks(topic, at_main), *_around_numbers(topic, source)]
    return sorted(found, key=topic.reference.min_bytes)[:MOST]


def _around_numbers(topic: ScheduleTopic, source: str) -> Iterator[Problem]:
    usual, most = topic.sizes_count, _most(topic)
    for number, name, more, odd in product(sorted(numbers(source)), usual, (-1, 0, 1), (0, 1)):
        if 1 <= number + more <= most[name]:
            others = {other: size + odd for other, size in usual.items()}
            yield {**others, name: number + more}


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
    named: dict[str, int] = {}
    found: set[int] = set()
    for statement in ast.parse(source).body:
        values = _values(statement, named)
        found.update(values.values())
        if isinstance(statement, ast.Assign) and statement.value in values:
            targets = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            named |= dict.fromkeys(targets, values[statement.value])
    return {number for number in found if number > 1}


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
