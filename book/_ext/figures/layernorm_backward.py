"""Layer norm's gradients: which sums run along rows and which down columns, and rows that are loaded ahead."""

from __future__ import annotations

from figures.chart import arrow
from grader.report.pictures.svg import Sheet, heading

WIDTH = 760.0

ROWS, COLUMNS, BLOCKS = 6, 8, 2
CELL, STEP = 40.0, 32.0
COLOURS = ("blue", "orange")


def sums() -> str:
    """Rows of two blocks: two means of each row beside it, and the parts of both blocks below."""
    title = f"Two means for each row, two sums for each column: {ROWS} rows, {BLOCKS} blocks"
    below = "A cell is an element of x, of dy and of dx. A block takes every second row, a thread the same columns."
    top, left = 92.0, 112.0
    sheet = Sheet(WIDTH, top + STEP * ROWS + 176, title, below)
    heading(sheet, title, below)
    for row in range(ROWS):
        y = top + STEP * row
        sheet.text(16, y + 20, f"block {row % BLOCKS}", "dim", size=12)
        for column in range(COLUMNS):
            sheet.rect(left + CELL * column, y, CELL - 4, STEP - 6, COLOURS[row % BLOCKS], radius=3)
        right = left + CELL * COLUMNS
        arrow(sheet, (right + 4, y + 13), (right + 40, y + 13))
        sheet.text(right + 48, y + 18, f"row {row}: the means of g and of g · n, for dx", size=12.5)
    foot = top + STEP * ROWS
    for column in range(COLUMNS):
        x = left + CELL * column + CELL / 2 - 2
        arrow(sheet, (x, foot), (x, foot + 26))
    for block in range(BLOCKS):
        y = foot + 32 + STEP * block
        _sums(sheet, left, y, COLOURS[block])
        sheet.text(
            left + CELL * COLUMNS + 8, y + 18, f"what block {block} leaves in memory at its end", size=12.5
        )
    y = foot + 32 + STEP * BLOCKS + 34
    for column in range(COLUMNS):
        x = left + CELL * column + CELL / 2 - 2
        arrow(sheet, (x, y - 32), (x, y - 6))
    _sums(sheet, left, y, "green")
    sheet.text(left + CELL * COLUMNS + 8, y + 18, "dgamma and dbeta: the second launch", size=12.5)
    return sheet.render()


def _sums(sheet: Sheet, left: float, y: float, colour: str) -> None:
    for column in range(COLUMNS):
        sheet.rect(left + CELL * column, y, CELL - 4, STEP - 6, colour, opacity=0.55, radius=3)
        sheet.text(left + CELL * column + CELL / 2 - 2, y + 18, "2", size=12, anchor="middle")


LOAD, ADD, WRITE = 150.0, 62.0, 34.0
SHOWN = 3


def ahead() -> str:
    """A block's rows in time: each loaded when the one before is done, and each loaded two rows ahead."""
    title = "One block, row after row: what is in flight"
    below = "Time runs to the right; lengths are not to scale."
    sheet = Sheet(WIDTH, 300, title, below)
    heading(sheet, title, below)
    left = 24.0
    sheet.text(left, 84, "03: a row is loaded when the one before is written", size=13)
    x = left
    for row in range(SHOWN - 1):
        _bar(sheet, x, 94, LOAD, "blue", f"row {row} in flight")
        _bar(sheet, x + LOAD, 94, ADD, "green", "add up")
        _bar(sheet, x + LOAD + ADD, 94, WRITE, "orange", "dx")
        x += LOAD + ADD + WRITE
    _bar(sheet, x, 94, LOAD, "blue", f"row {SHOWN - 1} in flight")
    sheet.text(left, 158, "04: two rows are on their way while one is added up and written", size=13)
    busy = left + LOAD
    for row in range(SHOWN + 1):
        begun = left if row < 2 else busy + (row - 2) * (ADD + WRITE)
        needed = busy + row * (ADD + WRITE)
        _bar(sheet, begun, 168 + 30 * (row % 3), needed - begun, "blue", f"row {row} in flight")
    for row in range(SHOWN + 1):
        at = busy + row * (ADD + WRITE)
        _bar(sheet, at, 262, ADD, "green", f"add {row}")
        _bar(sheet, at + ADD, 262, WRITE, "orange", "dx")
    return sheet.render()


def _bar(sheet: Sheet, x: float, y: float, width: float, colour: str, text: str) -> None:
    sheet.rect(x, y, width - 3, 26, colour, radius=3)
    sheet.text(x + width / 2 - 1, y + 18, text, "onto", size=12, anchor="middle")
