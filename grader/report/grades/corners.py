"""A wrong output as a small table: what is expected around its first wrong element, and what has come out; or a whole
case, where that is small."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.results import Mismatch, Number, SmallCase
from grader.workbook import units

DIGITS = (4, 6, 9)
"""Significant ones of a number that is not whole; nine tell any two floats apart."""


def corner(mismatch: Mismatch) -> Iterable[RenderableType]:
    """Expected beside actual, wrong elements in red; nothing for an output of one element."""
    found = mismatch.corner
    if found is None:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
    for place in range(2 * len(found.expected[0]) + 1):
        table.add_column(justify="center" if place == len(found.expected[0]) else "right", no_wrap=True)
    for expected, actual in zip(found.expected, found.actual, strict=True):
        came = [Text(_short(a, e), "" if a == e else "red") for e, a in zip(expected, actual, strict=True)]
        table.add_row(*map(_short, expected, actual), Text("|", "dim"), *came)
    first = ", ".join(map(str, found.first))
    yield Text(f"\n  {mismatch.array} from [{first}] on, expected | what has come out:", "dim")
    yield Padding(table, (0, 0, 0, 4))


def small(case: SmallCase) -> Iterable[RenderableType]:
    """A whole case: vectors in columns, matrices one below the other."""
    yield Text(f"\n  The same with numbers that can be read, {units.problem(case.problem)}:", "dim")
    rows = {**case.inputs, f"{case.output} expected": case.expected, f"{case.output} yours": case.actual}
    if all(len(array) == 1 for array in rows.values()):
        yield Padding(_columns(case, {name: array[0] for name, array in rows.items()}), (0, 0, 0, 4))
        return
    for name, array in rows.items():
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
        table.add_column(width=max(map(len, rows)))
        for _ in range(max(len(numbers) for numbers in array)):
            table.add_column(justify="right", no_wrap=True)
        for at, numbers in enumerate(array):
            due = case.expected[at] if array is case.actual else numbers
            table.add_row(
                Text(name if at == 0 else "", "dim"),
                *(Text(_short(a), "" if a == e else "red") for a, e in zip(numbers, due, strict=True)),
            )
        yield Padding(table, (0, 0, 0, 4))


def _columns(case: SmallCase, arrays: dict[str, list[Number]]) -> Table:
    """A row for each index, ✗ where the output is wrong."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("", *arrays):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for at in range(max(map(len, arrays.values()))):
        cells = [_short(array[at]) if at < len(array) else "" for array in arrays.values()]
        wrong = at < len(case.actual[0]) and case.actual[0][at] != case.expected[0][at]
        table.add_row(f"[{at}]", *cells, Text("✗" if wrong else "", "red"))
    return table


def _short(value: Number, beside: Number = "") -> str:
    """Whole numbers, as exact cases have them, in full: two rows of four still fit a narrow terminal. Of others, as
    many digits as tell it from the one `beside` it."""
    if isinstance(value, str):
        return value
    if float(value).is_integer() and abs(value) < 1e8:
        return f"{value:.0f}"
    shown = [f"{value:.{digits}g}" for digits in DIGITS]
    alike = [] if isinstance(beside, str) else [f"{beside:.{digits}g}" for digits in DIGITS]
    return next((text for text in shown if text not in alike), shown[0])
