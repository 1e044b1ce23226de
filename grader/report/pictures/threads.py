"""Threads: which warp each thread of a block is in, and what one thread of a matrix product loads and computes."""

from __future__ import annotations

from grader.analysis.intensity import WARP, RegisterTile
from grader.report.pictures.svg import SERIES, Sheet, heading
from grader.workbook import units

WIDTH, LEFT, TOP, BOTTOM = 760.0, 76.0, 92.0, 20.0
LARGEST = 34.0  # side of a thread's square, where there are few
GAP = 14.0  # between operands and sums


def warps(across: int, down: int = 1) -> str:
    """The threads of a block of `across` × `down` (threadIdx.x, threadIdx.y), coloured by warp, with their lanes."""
    number = -(-across * down // WARP)
    title = f"A block of {across} × {down} threads, cut into warps of {WARP}"
    last = across * down - WARP * (number - 1)
    said = f"{units.number_of(number, 'warp')}; a number is the thread's lane." + (
        f" The last warp has {units.number_of(last, 'thread')}." if last < WARP else ""
    )
    side = min(LARGEST, (WIDTH - LEFT - 16) / across)
    sheet = Sheet(WIDTH, TOP + side * down + BOTTOM, title, said)
    heading(sheet, title, said)
    sheet.text(LEFT, TOP - 10, "threadIdx.x →", "dim", size=11)
    for y in range(down):
        sheet.text(LEFT - 8, TOP + side * (y + 0.5) + 4, f"y = {y}", "dim", size=11, anchor="end")
        for x in range(across):
            warp, lane = divmod(x + across * y, WARP)
            place = LEFT + side * x, TOP + side * y
            tip = f"threadIdx ({x}, {y}): warp {warp}, lane {lane}"
            sheet.rect(*place, side - 1.5, side - 1.5, SERIES[warp % len(SERIES)], radius=2, tip=tip)
            if side >= 16:
                middle = place[0] + (side - 1.5) / 2, place[1] + side / 2 + 3.5
                sheet.text(*middle, str(lane), "onto", size=10, anchor="middle")
    return sheet.render()


def register_tile(tile: RegisterTile) -> str:
    """What a thread loads at one step of k (TM elements of A, TN of B), and the TM × TN sums that they feed."""
    title = f"A thread that computes {tile.rows} × {tile.columns} elements of C, at one step of k"
    each = "load" if tile.width == 1 else f"float{tile.width} load"
    said = (
        f"{units.number_of(tile.loads, each)}, {units.number_of(tile.multiply_adds, 'multiply-add')}: "
        f"a ratio of {units.digits(tile.ratio)}. At least {tile.registers} registers hold sums and operands."
    )
    side = 26.0
    height = side * (tile.rows + 1) + GAP
    sheet = Sheet(WIDTH, TOP + height + BOTTOM, title, said)
    heading(sheet, title, said)
    x, y = LEFT + side + GAP, TOP + side + GAP
    sheet.text(x, TOP - 8, f"{tile.columns} of B", "dim", size=12)
    sheet.text(LEFT - 8, y + side / 2 + 4, f"{tile.rows} of A", "dim", size=12, anchor="end")
    for row in range(tile.rows):
        sheet.rect(LEFT, y + side * row, side - 2, side - 2, "orange", radius=2, tip=f"a[{row}]")
        for column in range(tile.columns):
            tip = f"sum[{row}][{column}] += a[{row}] * b[{column}]"
            sheet.rect(x + side * column, y + side * row, side - 2, side - 2, "blue", radius=2, tip=tip)
    for column in range(tile.columns):
        sheet.rect(x + side * column, TOP, side - 2, side - 2, "green", radius=2, tip=f"b[{column}]")
    return sheet.render()
