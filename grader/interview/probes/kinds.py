"""Probes: ten-second questions, each on exactly one point, whose answer is a number, a choice, an order or a line.

A probe is declared in TOML below the point that it confirms. `grader.interview.probes.posing` draws and computes.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from grader.interview.reading import prose
from grader.workbook.expressions import nearest
from grader.workbook.strict_toml import Table

HEAD = ("name", "kind", "text", "explain", "draw")
"""The keys of every probe."""

MARK = "//!"
"""Ends a line of code that is right; it is not shown."""

WRONG_SHOWN = 3
"""Wrong statements beside the right one."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")

Parameter = int | float | str
Parameters = Mapping[str, Parameter]
Draw = Mapping[str, tuple[Parameter, ...]]


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What all kinds have. Texts are Markdown, with {parameters}."""

    name: str  # unique in its file; also the name of the function that computes it
    text: str
    explain: str  # shown afterwards; with {answer} and whatever else the function gives
    draw: Draw  # what each parameter is drawn from
    file: Path  # that declares it; functions stand in the .py beside it
    line: int

    @property
    def functions(self) -> Path:
        """The file that computes it."""
        return self.file.with_suffix(".py")


@dataclass(frozen=True, kw_only=True)
class NumberProbe(Probe):
    """The answer is a number that a function computes."""

    unit: str
    tolerance: float  # relative; 0: exactly this number


@dataclass(frozen=True, kw_only=True)
class ChoiceProbe(Probe):
    """One option is right: one of several true statements among false ones, or what a function computes."""

    right: tuple[str, ...] = ()  # statements, of which one is drawn
    wrong: tuple[str, ...] = ()  # of which three are drawn
    options: tuple[str, ...] = ()  # from which the function names one; () where it gives them as well

    @property
    def computed(self) -> bool:
        """Whether a function says which option is right."""
        return not self.right


@dataclass(frozen=True, kw_only=True)
class OrderProbe(Probe):
    """Items to be put in order."""

    items: tuple[str, ...]  # in the right order; () where a function gives them


@dataclass(frozen=True, kw_only=True)
class LineProbe(Probe):
    """A line of code is the answer."""

    code: tuple[str, ...]
    marked: tuple[int, ...]  # the right lines, counted from 1


class _Head(TypedDict):
    name: str
    text: str
    explain: str
    draw: Draw
    file: Path
    line: int


def read_probe(table: Table, given: Draw | None = None, others: tuple[str, ...] = ()) -> Probe:
    """A probe from its table. `given` are parameters drawn elsewhere, `others` keys that are not its own.

    Raises WarpladderError naming file and line.
    """
    kind = table.get("kind", str)
    readers = {"number": _number, "choice": _choice, "order": _order, "line": _line}
    if kind not in readers:
        raise table.error(
            f"`kind` is {kind!r}{nearest(kind, readers)}", "kind", f"one of {', '.join(readers)}"
        )
    return readers[kind](table, _head(table, given or {}), others)


def read_draw(table: Table) -> Draw:
    """What parameters are drawn from: the table [draw], absent where nothing is."""
    draws = table.below("draw")
    return {name: _choices(draws, name) for name in draws.values}


def _head(table: Table, given: Draw) -> _Head:
    name = table.get("name", str)
    if not _NAME.fullmatch(name):
        raise table.error(
            f"`name` is {name!r}", "name", "letters, digits and _, as of a function: blocks_per_sm"
        )
    own = read_draw(table)
    if twice := sorted(own.keys() & given.keys()):
        raise table.error(f"`{twice[0]}` is drawn already", "draw", "leave it out here")
    text = prose(table, "text")
    names = fields(table, "text", text)
    for field in names:
        known(table, "text", field, own.keys() | given.keys())
    for parameter in own:
        if parameter not in names:
            raise table.error(f"`text` does not tell the candidate {{{parameter}}}", "text")
    return _Head(
        name=name, text=text, explain=prose(table, "explain"), draw={**given, **own}, file=table.file, line=table.line()
    )  # fmt: skip


def _number(table: Table, head: _Head, others: tuple[str, ...]) -> NumberProbe:
    table.allow(*HEAD, "unit", "tolerance", *others)
    tolerance = table.get("tolerance", float)
    if not 0 <= tolerance <= 0.5:
        raise table.error(f"`tolerance` is {tolerance}", "tolerance", "relative: 0 is exact, 0.05 are 5 %")
    if "answer" not in fields(table, "explain", head["explain"]):
        raise table.error("`explain` does not show {answer}", "explain")
    return NumberProbe(**head, unit=table.get("unit", str), tolerance=tolerance)


def _choice(table: Table, head: _Head, others: tuple[str, ...]) -> ChoiceProbe:
    table.allow(*HEAD, "right", "wrong", "options", *others)
    right, wrong, options = table.names("right"), table.names("wrong"), table.names("options")
    for key, statements in (("right", right + wrong), ("options", options)):
        if len(set(statements)) < len(statements):
            raise table.error("a statement stands here twice", key)
    if right and options:
        raise table.error("`right` is given and computed", "right", "either right and wrong, or options")
    if right and len(wrong) < WRONG_SHOWN:
        message = f"there are {len(wrong)} wrong statements, and {WRONG_SHOWN} are shown"
        raise table.error(message, "wrong", "write another mistake that people make")
    if wrong and not right:
        raise table.error("`right` is missing", "wrong", 'right = ["a true statement"]')
    if options and len(options) < 2:
        raise table.error("there is one option", "options")
    return ChoiceProbe(**head, right=right, wrong=wrong, options=options)


def _order(table: Table, head: _Head, others: tuple[str, ...]) -> OrderProbe:
    table.allow(*HEAD, "items", *others)
    items = table.names("items")
    if items and not 3 <= len(set(items)) == len(items) <= 6:
        raise table.error(f"there are {len(items)} items", "items", "three to six, all different")
    return OrderProbe(**head, items=items)


def _line(table: Table, head: _Head, others: tuple[str, ...]) -> LineProbe:
    table.allow(*HEAD, "code", *others)
    shown, marked = unmarked(prose(table, "code"))
    if not marked:
        raise table.error("no line is marked", "code", f"end the right line with {MARK}")
    return LineProbe(**head, code=shown, marked=marked)


def unmarked(code: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Lines of code without their marks, and the numbers of those that had one, counted from 1."""
    lines = code.strip("\n").splitlines()
    marked = tuple(number for number, line in enumerate(lines, 1) if line.rstrip().endswith(MARK))
    return tuple(line.rstrip().removesuffix(MARK).rstrip() for line in lines), marked


def _choices(table: Table, name: str) -> tuple[Parameter, ...]:
    values = table.values[name]
    if not isinstance(values, list) or not values or not all(type(v) in (int, float, str) for v in values):
        raise table.error(f"`{name}` is {values!r}", name, f"a list to draw from: {name} = [128, 256]")
    if len(set(values)) < len(values):
        raise table.error(f"`{name}` holds a value twice", name)
    return tuple(values)


def known(table: Table, key: str, field: str, names: Collection[str]) -> None:
    """Raise where a text names a parameter that is not drawn."""
    if field not in names:
        remedy = "name one that is drawn; a brace that is meant is written twice"
        raise table.error(f"`{key}` names {{{field}}}{nearest(field, list(names))}", key, remedy)


def fields(table: Table, key: str, text: str) -> list[str]:
    """The {names} in a text."""
    try:
        return [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise table.error(f"`{key}`: {error}", key, "a brace that is meant is written twice") from None
