"""The matrix product's last wave: whole tiles for some multiprocessors, or equal shares for all."""

from __future__ import annotations

from grader.report.pictures.svg import SERIES, Sheet, heading

WIDTH = 760.0
MULTIPROCESSORS, TILES, STEPS = 5, 8, 10  # steps of k in a tile
LEFT, BAR, ROW = 86.0, 26.0, 30.0

Piece = tuple[int, int, int]  # a tile, and steps of it: the first one, and behind the last


def whole() -> list[list[Piece]]:
    """What each multiprocessor computes where blocks have a tile each."""
    return [
        [(tile, 0, STEPS) for tile in range(TILES) if tile % MULTIPROCESSORS == number]
        for number in range(MULTIPROCESSORS)
    ]


def even() -> list[list[Piece]]:
    """What each computes where the tiles of the last wave are cut into equal shares, as rung 11 has them."""
    full = TILES // MULTIPROCESSORS * MULTIPROCESSORS
    left = (TILES - full) * STEPS
    found = []
    for number, pieces in enumerate(whole()):
        step, end = (left * share // MULTIPROCESSORS for share in (number, number + 1))
        pieces = [piece for piece in pieces if piece[0] < full]
        while step < end:
            first = step % STEPS
            steps = min(STEPS - first, end - step)
            pieces.append((full + step // STEPS, first, first + steps))
            step += steps
        found.append(pieces)
    return found


def shares() -> str:
    """Both, one above the other."""
    title = f"{TILES} tiles of {STEPS} steps of k on {MULTIPROCESSORS} multiprocessors"
    below = "Numbers are those of tiles, and the steps of a part. Time runs to the right."
    sheet = Sheet(WIDTH, 66 + 2 * (34 + ROW * MULTIPROCESSORS), title, below)
    heading(sheet, title, below)
    bottom = _rows(sheet, 84, "a tile a block: two waves, the last one with three tiles", whole())
    _rows(sheet, bottom + 34, "equal shares of the last three tiles", even())
    return sheet.render()


def _rows(sheet: Sheet, top: float, name: str, work: list[list[Piece]]) -> float:
    """A row for each multiprocessor, and where they end."""
    width = (WIDTH - LEFT - 16) / (2 * STEPS)
    sheet.text(16, top - 8, name, size=13)
    for number, pieces in enumerate(work):
        x, y = LEFT, top + ROW * number
        sheet.text(16, y + 18, f"SM {number}", "dim", size=12)
        for tile, first, end in pieces:
            part = f"{tile}" if end - first == STEPS else f"{tile}: {first}–{end - 1}"
            sheet.rect(x, y, (end - first) * width - 3, BAR, SERIES[tile % len(SERIES)], radius=3)
            sheet.text(x + (end - first) * width / 2 - 2, y + 18, part, "onto", size=12, anchor="middle")
            x += (end - first) * width
        if x < LEFT + 2 * STEPS * width - 1 and work == whole():
            sheet.rect(x, y, LEFT + 2 * STEPS * width - x - 3, BAR, "empty", radius=3)
            sheet.text((x + LEFT + 2 * STEPS * width) / 2, y + 18, "idle", "dim", size=12, anchor="middle")
    return top + ROW * len(work)
