"""What the tables of the course's commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.visible import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from grader.course.gradebook.standing import Standing


def table(*columns: str, numbers: Sequence[str] = (), wide: str | Sequence[str] = ()) -> Table:
    """A table without lines: `numbers` to the right, what is `wide` over several lines, all else cut."""
    from rich.table import Table

    wide = (wide,) if isinstance(wide, str) else wide
    made = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        if column in wide:
            made.add_column(column, ratio=1)
        elif column in numbers:
            made.add_column(column, justify="right", no_wrap=True)
        else:
            made.add_column(column, no_wrap=True, overflow="ellipsis", max_width=24)
    return made


def add(made: Table, *cells: str | Text) -> None:
    """Add a row whose text is visible before it is measured: names of students and of their files are anything,
    markup among it."""
    from rich.text import Text

    made.add_row(*(Text(visible(cell)) if isinstance(cell, str) else cell for cell in cells))


def late(seconds: float, at_least: bool = False) -> str:
    """How late something was: in days and hours, hours and minutes, or seconds."""
    from grader.workbook.units import NOTHING

    if seconds <= 0:
        return NOTHING
    minutes = int(seconds // 60)
    days, hours = divmod(minutes // 60, 24)
    by = f"{days} d {hours} h" if days else f"{hours} h {minutes % 60} m" if minutes else f"{seconds:.0f} s"
    return f"≥ {by}" if at_least else by


def say_if_at_least(console: Console, standings: Sequence[Standing]) -> None:
    """What the sign of somebody's lateness means that is not known, if a table has it."""
    if any(item.late_at_least for item in standings):
        console.print("\n≥: late, says the platform, and by how much is not known. The least counts.")


def lines(console: Console, heading: str, said: Sequence[tuple[str, str]]) -> None:
    """What there is to say of single things, a line each below a heading; nothing where there is none."""
    from rich.padding import Padding
    from rich.text import Text

    if said:
        console.print(Text(f"\n{heading}:", "bold"))
    for name, text in said:
        console.print(Padding(Text(visible(f"{name}: {text}")), (0, 0, 0, 2)))
