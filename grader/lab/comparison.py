"""Runs side by side: which numbers differ, and by what factor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from grader.errors import WarpladderError
from grader.lab import show
from grader.workbook import units


class Run(Protocol):
    """What is known of one run of a kernel or a schedule."""

    @property
    def name(self) -> str: ...
    @property
    def faults(self) -> list[str]: ...
    def numbers(self) -> Mapping[str, float]: ...
    def meaning(self, name: str) -> str: ...


@dataclass(frozen=True)
class Comparison:
    """Several runs side by side, as `compare` found them."""

    runs: Mapping[str, Run]
    rows: list[str]  # short names

    def _repr_html_(self) -> str:
        return show.as_html(self.view())

    def __repr__(self) -> str:
        return show.as_text(self.view())

    def view(self) -> RenderableType:
        """It as a table."""
        said = [text for run in self.runs.values() for text in complaints(run)]
        return show.stacked(*said, table(self.runs, self.rows) if self.rows else Text("No counter differs."))


def compare(runs: Mapping[str, Run], *only: str) -> Comparison:
    """Runs side by side, under the names they are given in `runs`: the numbers in which they differ.

    With `only`, those numbers, by their short names, whether they differ or not. Raises WarpladderError for a name
    that is none.
    """
    numbers = [run.numbers() for run in runs.values()]
    known = list(numbers[0]) if numbers else []
    for name in only:
        if name not in known:
            raise WarpladderError(f"`{name}` is not counted", remedy=f"counted are {', '.join(known)}")
    return Comparison(
        runs, list(only) or [name for name in known if len({each[name] for each in numbers}) > 1]
    )


def table(runs: Mapping[str, Run], rows: list[str]) -> RenderableType:
    """One row a number, one column a run, the factor where there are two; then each short name's meaning."""
    if not rows:
        return Text("Nothing was counted.", "dim")
    view = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    view.add_column("", no_wrap=True)
    for head in runs:
        view.add_column(head, justify="right")
    if len(runs) == 2:
        view.add_column("factor", justify="right", no_wrap=True)
    numbers = [run.numbers() for run in runs.values()]
    for name in rows:
        values = [each[name] for each in numbers]
        factor = []
        if len(runs) == 2:
            factor = [units.ratio(values[1] / values[0]) if values[0] else units.NOTHING]
        view.add_row(name, *(units.number(value, 3) for value in values), *factor)
    widest = max(len(name) for name in rows)
    one = next(iter(runs.values()))
    meaning = [f"{name:{widest}}  {one.meaning(name)}" for name in rows]
    return show.stacked(view, Text("\n".join(["", *meaning]), "dim"))


def complaints(run: Run) -> list[Text]:
    """What is wrong with a run, if anything is."""
    return [Text(fault, "red") for fault in run.faults]
