"""Hopper: how a swizzle of 128 bytes exchanges pieces, and a ring of stages between a producer and two consumers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from grader.emulator.runtime.transactions import boxes
from grader.report.pictures.svg import Sheet, heading

WIDTH = 760.0
ROWS, PIECES, PIECE = 8, 8, 16  # of an atom of 128 bytes a row; bytes of a piece
SWIZZLE_128 = 7  # the bits of a row's number that are exchanged
MARKED = {0: "blue", 3: "orange"}  # columns of pieces that are shown in colour

PAIRS, TILES, STAGES, CONSUMERS = 6, 2, 3, 2  # pairs of tiles for each tile of C
ISSUE, COPY, PRODUCT, WRITE = 1, 3, 2, 5  # made-up times
COLOURS = ("blue", "green")  # of what belongs to the first tile of C, and to the second


def place(row: int, piece: int) -> int:
    """Where in its row the emulator puts a piece."""
    offset = (row * PIECES + piece) * PIECE
    return int(cast(Any, boxes.swizzled).py_func(offset, SWIZZLE_128)) // PIECE % PIECES


def swizzle() -> str:
    """The pieces of eight rows as they are in the matrix, and as they lie in shared memory."""
    title = "Eight rows of 128 bytes, an atom of the swizzle"
    below = "Each cell is a piece of 16 bytes, with its number in the row. Pieces 0 and 3 of all rows are coloured."
    sheet = Sheet(WIDTH, 100 + 30 * ROWS, title, below)
    heading(sheet, title, below)
    for left, name, lies in (
        (60.0, "in the matrix", lambda row, piece: piece),
        (430.0, "in shared memory", place),
    ):
        sheet.text(left, 76, name, size=13, bold=True)
        for row in range(ROWS):
            y = 86.0 + 30 * row
            sheet.text(left - 10, y + 18, f"{row}", "dim", size=12, anchor="end")
            for piece in range(PIECES):
                x = left + 34 * lies(row, piece)
                colour = MARKED.get(piece, "empty")
                sheet.rect(x, y, 32, 27, colour, radius=2)
                on = "onto" if piece in MARKED else "dim"
                sheet.text(x + 16, y + 18, f"{piece}", on, size=12, anchor="middle")
    return sheet.render()


@dataclass(frozen=True)
class Pair:
    """When a pair of tiles is asked for, is there, is begun and is done with."""

    number: int
    issued: int
    full: int
    begun: int
    done: int

    @property
    def colour(self) -> str:
        """That of its tile of C."""
        return COLOURS[self.number // PAIRS]


def schedule() -> list[Pair]:
    """The pairs of all tiles of C: a stage is filled when it is empty, and multiplied when it is full."""
    found: list[Pair] = []
    free = 0  # when the consumers are
    for number in range(PAIRS * TILES):
        asked = found[-1].issued + ISSUE if found else 0
        emptied = found[number - STAGES].done if number >= STAGES else 0
        issued = max(asked, emptied)
        begun = max(issued + COPY, free)
        found.append(Pair(number, issued, issued + COPY, begun, begun + PRODUCT))
        last_of_tile = number % PAIRS == PAIRS - 1
        free = begun + PRODUCT + (WRITE if last_of_tile else 0)
    return found


def pipeline() -> str:
    """Who does what when: the producer, each stage, each consumer."""
    title = "A producer, three stages and two consumers over two tiles of C"
    below = "Time to the right; numbers are pairs of tiles. Copies for the second tile run while the first is written."
    pairs = schedule()
    end = pairs[-1].done + WRITE
    rows = ["producer", *(f"stage {stage}" for stage in range(STAGES)), "consumer 1", "consumer 2"]
    sheet = Sheet(WIDTH, 70 + 32 * len(rows) + 40, title, below)
    heading(sheet, title, below)
    left = 100.0
    unit = (WIDTH - left - 16) / end

    def block(row: int, start: int, stop: int, colour: str, text: str) -> None:
        x, y = left + unit * start, 66.0 + 32 * row
        sheet.rect(x, y, unit * (stop - start) - 1, 24, colour, radius=2)
        ink = "dim" if colour == "grid" else "onto"
        sheet.text(x + unit * (stop - start) / 2, y + 17, text, ink, size=11, anchor="middle")

    for row, name in enumerate(rows):
        sheet.text(16, 66 + 32 * row + 17, name, size=12)
        sheet.rect(left, 66 + 32 * row, unit * end, 24, "empty", radius=2)
    for pair in pairs:
        stage = 1 + pair.number % STAGES
        block(0, pair.issued, pair.issued + ISSUE, pair.colour, f"{pair.number}")
        block(stage, pair.issued, pair.full, "orange", f"{pair.number}")
        if pair.begun > pair.full:
            block(stage, pair.full, pair.begun, "grid", "full" if pair.begun > pair.full + 1 else "")
        block(stage, pair.begun, pair.done, pair.colour, f"{pair.number}")
        for consumer in range(CONSUMERS):
            block(1 + STAGES + consumer, pair.begun, pair.done, pair.colour, f"{pair.number}")
            if pair.number % PAIRS == PAIRS - 1:
                block(1 + STAGES + consumer, pair.done, pair.done + WRITE, "purple", "write")
    y = 66.0 + 32 * len(rows) + 8
    for x, colour, name in (
        (left, "orange", "TMA copies"),
        (left + 120, "grid", "full, waits"),
        (left + 230, "blue", "first tile of C"),
        (left + 360, "green", "second tile of C"),
        (left + 500, "purple", "sums are written"),
    ):
        sheet.rect(x, y, 12, 12, colour)
        sheet.text(x + 18, y + 11, name, "dim", size=12)
    return sheet.render()
