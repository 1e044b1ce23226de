"""Hopper: how a swizzle of 128 bytes exchanges pieces, and rings of stages between a producer and two consumers.

The consumers of one ring multiply tiles of a matrix product, those of the other take turns with tiles of attention.
"""

from __future__ import annotations

from collections.abc import Sequence
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
COLOURS = ("blue", "green")  # of both tiles of C, and of the consumers that take turns

KEY_TILES, KEY_STAGES = 4, 4  # tiles of keys of a task; stages of the ring of tiles of K and V
BRING, MULTIPLY, SOFTMAX, RESCALE = 2, 2, 3, 1  # made-up times


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


@dataclass(frozen=True)
class Spell:
    """What somebody does from one time to another."""

    row: str
    start: int
    stop: int
    colour: str
    text: str


def timeline(
    title: str,
    below: str,
    rows: Sequence[str],
    spells: Sequence[Spell],
    left: float,
    legend: Sequence[tuple[float, str, str]],
) -> str:
    """Who does what when: a row each, from `left` on. Of what the colours mean, how far behind `left` it stands, the
    colour and the words."""
    end = max(spell.stop for spell in spells)
    sheet = Sheet(WIDTH, 70 + 32 * len(rows) + 40, title, below)
    heading(sheet, title, below)
    unit = (WIDTH - left - 16) / end
    tops = {name: 66.0 + 32 * row for row, name in enumerate(rows)}
    for name, y in tops.items():
        sheet.text(16, y + 17, name, size=12)
        sheet.rect(left, y, unit * end, 24, "empty", radius=2)
    for spell in spells:
        x, y, wide = left + unit * spell.start, tops[spell.row], unit * (spell.stop - spell.start)
        sheet.rect(x, y, wide - 1, 24, spell.colour, radius=2)
        ink = "dim" if spell.colour == "grid" else "onto"
        sheet.text(x + wide / 2, y + 17, spell.text, ink, size=11, anchor="middle")
    y = 66.0 + 32 * len(rows) + 8
    for distance, colour, name in legend:
        sheet.rect(left + distance, y, 12, 12, colour)
        sheet.text(left + distance + 18, y + 11, name, "dim", size=12)
    return sheet.render()


def pipeline() -> str:
    """Who does what when: the producer, each stage, each consumer."""
    stages = [f"stage {stage}" for stage in range(STAGES)]
    consumers = [f"consumer {consumer + 1}" for consumer in range(CONSUMERS)]
    spells: list[Spell] = []
    for pair in schedule():
        stage, number = stages[pair.number % STAGES], f"{pair.number}"
        spells.append(Spell("producer", pair.issued, pair.issued + ISSUE, pair.colour, number))
        spells.append(Spell(stage, pair.issued, pair.full, "orange", number))
        if pair.begun > pair.full:
            text = "full" if pair.begun > pair.full + 1 else ""
            spells.append(Spell(stage, pair.full, pair.begun, "grid", text))
        spells.append(Spell(stage, pair.begun, pair.done, pair.colour, number))
        for consumer in consumers:
            spells.append(Spell(consumer, pair.begun, pair.done, pair.colour, number))
            if pair.number % PAIRS == PAIRS - 1:
                spells.append(Spell(consumer, pair.done, pair.done + WRITE, "purple", "write"))
    return timeline(
        "A producer, three stages and two consumers over two tiles of C",
        "Time to the right; numbers are pairs of tiles. Copies for the second tile run while the first is written.",
        ["producer", *stages, *consumers],
        spells,
        100.0,
        (
            (0, "orange", "TMA copies"),
            (120, "grid", "full, waits"),
            (230, "blue", "first tile of C"),
            (360, "green", "second tile of C"),
            (500, "purple", "sums are written"),
        ),
    )


class Turns:
    """Two consumers of attention's rung 07 over the tiles of a task, by the rules of its barriers."""

    def __init__(self) -> None:
        last = KEY_TILES - 1
        self.ring = [f"K{last}"]
        for tile in range(last, 0, -1):
            self.ring += [f"K{tile - 1}", f"V{tile}"]
        self.ring.append("V0")
        self.spells: list[Spell] = []
        self.full: dict[str, int] = {}  # tile → when it has come
        self.given_back: dict[str, int] = {}  # tile → when the last consumer has multiplied it
        self.tensor_free = self.issued = 0
        self.ready = [0] * CONSUMERS  # when each consumer has its next weights
        self._run(last)

    def _run(self, last: int) -> None:
        for group in range(CONSUMERS):
            self._weigh(group, last, self._product(group, "Q·K", f"K{last}"))
        for tile in range(last, 0, -1):
            for group in range(CONSUMERS):  # in turn
                scores = self._product(group, "Q·K", f"K{tile - 1}")
                outputs = self._product(group, "P·V", f"V{tile}")
                self._weigh(group, tile - 1, scores, outputs)
        for group in range(CONSUMERS):
            self._product(group, "P·V", "V0")

    def _add(self, row: str, start: int, stop: int, colour: str, text: str) -> int:
        self.spells.append(Spell(row, start, stop, colour, text))
        return stop

    def _bring(self, tile: str) -> int:
        """When the tile has come: it is asked for when the one KEY_STAGES before it has been given back."""
        if tile not in self.full:
            at = self.ring.index(tile)
            before = self.given_back[self.ring[at - KEY_STAGES]] if at >= KEY_STAGES else 0
            asked = max(self.issued, before)
            self.issued = asked + ISSUE
            self.full[tile] = self._add(f"stage {at % KEY_STAGES}", asked, asked + BRING, "orange", tile)
        return self.full[tile]

    def _product(self, group: int, name: str, tile: str) -> int:
        """When the product is done; the Tensor Cores make one after the other."""
        for earlier in self.ring[: self.ring.index(tile) + 1]:
            self._bring(earlier)
        start = max(self.tensor_free, self.full[tile], self.ready[group])
        self.tensor_free = self._add(
            "Tensor Cores", start, start + MULTIPLY, COLOURS[group], f"{name[:-1]}{tile}"
        )
        row = f"stage {self.ring.index(tile) % KEY_STAGES}"
        self._add(row, start, self.tensor_free, COLOURS[group], tile)
        self.given_back[tile] = self.tensor_free
        return self.tensor_free

    def _weigh(self, group: int, tile: int, scores: int, outputs: int = 0) -> None:
        """Exponentials of a tile's scores, and the sums rescaled when they have come."""
        row = f"warpgroup {group}"
        weighed = self._add(row, scores, scores + SOFTMAX, COLOURS[group], f"exp {tile}")
        self.ready[group] = weighed
        if outputs:
            rescale = max(weighed, outputs)
            self.ready[group] = self._add(row, rescale, rescale + RESCALE, "purple", "×")


def turns() -> str:
    """The Tensor Cores, the warpgroups that take turns, and the ring of tiles of K and V."""
    return timeline(
        "Two warpgroups take turns over four tiles of keys",
        "Time to the right. Products of a warpgroup and its exponentials have its colour; × rescales its sums.",
        [
            "Tensor Cores",
            *(f"warpgroup {group}" for group in range(CONSUMERS)),
            *(f"stage {stage}" for stage in range(KEY_STAGES)),
        ],
        Turns().spells,
        110.0,
        (
            (0, "orange", "TMA copies"),
            (130, "blue", "warpgroup 0"),
            (260, "green", "warpgroup 1"),
            (390, "purple", "sums are rescaled"),
        ),
    )
