"""A wrong output as a small table: what is expected around its first wrong element, and what has come out."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.results import Mismatch, Number


def corner(mismatch: Mismatch) -> Iterable[RenderableType]:
    """Expected beside actual, wrong elements in red; nothing for an output of one element."""
    found = mismatch.corner
    if found is None:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
    for place in range(2 * len(found.expected[0]) + 1):
        table.add_column(justify="center" if place == len(found.expected[0]) else "right", no_wrap=True)
    for expected, actual in zip(found.expected, found.actual, strict=True):
        came = [Text(_short(a), "" if a == e else "red") for e, a in zip(expected, actual, strict=True)]
        table.add_row(*map(_short, expected), Text("|", "dim"), *came)
    first = ", ".join(map(str, found.first))
    yield Text(f"\n  {mismatch.array} from [{first}] on, expected | what has come out:", "dim")
    yield Padding(table, (0, 0, 0, 4))


def _short(value: Number) -> str:
    """Whole numbers, as exact cases have them, in full: two rows of four still fit a narrow terminal."""
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e7 else f"{value:.4g}"
