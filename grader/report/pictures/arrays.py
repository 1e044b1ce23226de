"""What one block of each launch accesses: every array as its matrix, with the elements that the block, one instruction
of a warp, and one thread access."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from grader.report.pictures.svg import Sheet, text_width, wrapped
from grader.results import Accesses, ArrayAccess, LaunchAccesses
from grader.workbook import units

WIDE, NARROW = 760.0, 340.0
MARGIN, GAP, LINE = 16.0, 24.0, 18.0
TINY, SMALL, BOLD = 11.0, 12.0, 13.0
PANEL, NARROW_PANEL = 226.0, 142.0  # the most that an array's panel is wide, and its matrix high
CELL = 8.0  # the most that an element is
STRIP = 10.0  # the height of an array that is one row
NARROWEST = (
    64.0  # the least that a matrix of many rows is high, and of many columns wide: long rows would be a line
)
BETWEEN = 3.0  # matrices of an array that has several
VISIBLE = 2.0  # no mark is smaller
MATRICES = 128  # of an array of more than two dimensions; one that has more is drawn as one matrix
ONE_ROW = 128  # an array of one dimension up to so long is one row; a longer one is broken into rows

LAYERS = (("block", "blue", 0.3), ("warp", "blue", 1.0), ("thread", "orange", 1.0))
LEGEND = {"block": "the block", "warp": "one instruction of its warp 0", "thread": "its thread 0, in all"}
SPACES = {"global": "global memory", "shared": "shared memory", "const": "constant memory"}
ACTIONS = {"read": "read from", "write": "written to", "atomic": "updated by atomics in"}
COLOURS = {"global": "dim", "shared": "teal", "const": "purple"}

Box = tuple[float, float, float, float]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


def accesses(result: Accesses, name: str, width: float = WIDE) -> str:
    """The launches of a kernel file called `name`, `width` pixels wide; a kernel that is launched again is drawn
    once."""
    launches = _first_of_each(result.launches)
    title = f"{name}: what one block accesses"
    said = " ".join(_said(launch) for launch in launches)
    drawn = [_Launch(launch, width) for launch in launches]
    head = wrapped(title, width - 2 * MARGIN, 15)
    below = wrapped(_where(result, launches), width - 2 * MARGIN, SMALL)
    key = _legend_lines(width)
    top = MARGIN + LINE * (len(head) + len(below) + len(key)) + 8
    sheet = Sheet(width, top + sum(launch.height for launch in drawn) + 4, title, said)
    y = MARGIN + 12
    for text in head:
        sheet.text(MARGIN, y, text, bold=True, size=14)
        y += LINE
    for text in below:
        sheet.text(MARGIN, y, text, "dim", size=SMALL)
        y += LINE
    for layers in key:
        _legend(sheet, layers, y)
        y += LINE
    y = top
    for launch in drawn:
        launch.draw(sheet, y)
        y += launch.height
    return sheet.render()


def accesses_for_pages(result: Accesses, name: str) -> str:
    """HTML: the picture for wide pages and the one for narrow pages, of which the page's style sheet shows one."""
    drawn = {"wide": accesses(result, name), "narrow": accesses(result, name, NARROW)}
    return "".join(f'<div class="picture-{kind}">{picture}</div>' for kind, picture in drawn.items())


def _first_of_each(launches: Sequence[LaunchAccesses]) -> list[LaunchAccesses]:
    """The first launch of each kernel."""
    found: dict[str, LaunchAccesses] = {}
    for launch in launches:
        found.setdefault(launch.kernel, launch)
    return list(found.values())


def _where(result: Accesses, launches: Sequence[LaunchAccesses]) -> str:
    """The sizes, and what is not drawn."""
    again = len(result.launches) - len(launches)
    more = f" {units.number_of(again, 'launch', 'launches')} of the same kernels not drawn." if again else ""
    return f"Seen by the emulator at {units.problem(result.problem)}.{more}"


def _said(launch: LaunchAccesses) -> str:
    arrays = "; ".join(
        f"{item.array or 'memory'} ({units.extents(item.shape)}), {ACTIONS[item.action]} {SPACES[item.space]}: "
        f"{_counts(item)}"
        for item in launch.arrays
    )
    return f"{_heading(launch)}. Elements of {arrays}."


def _heading(launch: LaunchAccesses) -> str:
    grid, block = _needed(launch.grid), _needed(launch.block)
    place = ", ".join(map(str, launch.traced[: len(grid)]))
    which = f"({place})" if len(grid) > 1 else place
    return f"{launch.kernel}: block {which} of {units.extents(grid)}, {units.extents(block)} threads"


def _needed(extents: Sequence[int]) -> Sequence[int]:
    """Without the ones at the end."""
    return extents[: max(i + 1 for i, extent in enumerate(extents) if extent > 1 or i == 0)]


def _counts(item: ArrayAccess) -> str:
    return " · ".join(f"{layer} {_elements(getattr(item, layer)):,}" for layer, _, _ in LAYERS)


def _elements(pairs: Sequence[int]) -> int:
    return sum(pairs[1::2]) - sum(pairs[::2])


# ---- the legend --------------------------------------------------------------------------------------------


def _legend_lines(width: float) -> list[list[tuple[str, str, float]]]:
    """The layers, as many in a line as fit."""
    lines: list[list[tuple[str, str, float]]] = [[]]
    room = width - 2 * MARGIN
    for layer in LAYERS:
        needed = text_width(LEGEND[layer[0]], SMALL) + 36
        if lines[-1] and needed > room:
            lines.append([])
            room = width - 2 * MARGIN
        lines[-1].append(layer)
        room -= needed
    return lines


def _legend(sheet: Sheet, layers: Sequence[tuple[str, str, float]], y: float) -> None:
    x = MARGIN
    for layer, colour, opacity in layers:
        sheet.rect(x, y - 10, 12, 12, colour, opacity=opacity)
        sheet.text(x + 18, y, LEGEND[layer], "dim", size=SMALL)
        x += text_width(LEGEND[layer], SMALL) + 36


# ---- launches ----------------------------------------------------------------------------------------------


class _Launch:
    """A launch: its heading, and the panels of its arrays, as many beside each other as fit."""

    def __init__(self, launch: LaunchAccesses, width: float) -> None:
        self.head = wrapped(_heading(launch), width - 2 * MARGIN)
        self.rows: list[list[_Panel]] = [[]]
        room = width - 2 * MARGIN
        for item in launch.arrays:
            panel = _Panel(item, PANEL if width >= WIDE else NARROW_PANEL)
            if self.rows[-1] and panel.width > room:
                self.rows.append([])
                room = width - 2 * MARGIN
            self.rows[-1].append(panel)
            room -= panel.width + GAP

    @property
    def height(self) -> float:
        return LINE * len(self.head) + 6 + sum(_tallest(row) + GAP for row in self.rows)

    def draw(self, sheet: Sheet, y: float) -> None:
        for text in self.head:
            sheet.text(MARGIN, y + 14, text)
            y += LINE
        y += 6
        for row in self.rows:
            x = MARGIN
            for panel in row:
                panel.draw(sheet, x, y)
                x += panel.width + GAP
            y += _tallest(row) + GAP


def _tallest(row: Sequence[_Panel]) -> float:
    return max((panel.height for panel in row), default=0)


# ---- arrays ------------------------------------------------------------------------------------------------


@dataclass
class _Panel:
    """An array that is accessed in one way: words above and below, and its matrix between them."""

    item: ArrayAccess
    most: float

    def __post_init__(self) -> None:
        self.matrix = _Matrix(self.item.shape, self.most)
        name, place = f"{self.item.array or 'memory'} {self.matrix.label}", COLOURS[self.item.space]
        self.above = [(text, "ink", True) for text in wrapped(name, self.most, BOLD)]
        said = f"{ACTIONS[self.item.action]} {SPACES[self.item.space]}"
        self.above += [(text, place, False) for text in wrapped(said, self.most, SMALL)]
        kept = _counts(self.item).replace(" ", "\0").replace("·\0", "· ")  # lines end behind a dot
        self.below = [line.replace("\0", " ") for line in wrapped(kept, self.most, TINY)]

    @property
    def width(self) -> float:
        words = [*self.below, *(text for text, _, _ in self.above)]
        return min(self.most, max(self.matrix.width, *(text_width(text, SMALL) for text in words)))

    @property
    def height(self) -> float:
        return LINE * (len(self.above) + len(self.below)) + self.matrix.height + 4

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        for text, colour, bold in self.above:
            sheet.text(x, y + 12, text, colour, size=SMALL, bold=bold)
            y += LINE
        planes = [_moved(box, x, y) for box in self.matrix.planes()]
        sheet.area([(left - 1, top - 1, wide + 2, high + 2) for left, top, wide, high in planes], "grid")
        sheet.area(planes, "empty")
        for layer, colour, opacity in LAYERS:
            least = 0.0 if layer == "block" else VISIBLE
            found = self.matrix.boxes(getattr(self.item, layer))
            if boxes := [_moved(_at_least(box, least), x, y) for box in found]:
                tip = f"{LEGEND[layer]}: {_elements(getattr(self.item, layer)):,} elements"
                sheet.area(boxes, colour, opacity=opacity, tip=tip)
        y += self.matrix.height + 16
        for text in self.below:
            sheet.text(x, y, text, "dim", size=TINY)
            y += LINE


def _moved(box: Box, x: float, y: float) -> Box:
    return box[0] + x, box[1] + y, box[2], box[3]


def _at_least(box: Box, least: float) -> Box:
    """The box, made so large around its middle."""
    x, y, width, height = box
    wide, high = max(width, least), max(height, least)
    return x - (wide - width) / 2, y - (high - height) / 2, wide, high


class _Matrix:
    """Where the elements of an array lie in a picture: an array of more than two dimensions as several matrices, or as
    one where they would be many; a long one of one dimension broken into rows."""

    def __init__(self, shape: Sequence[int], most: float) -> None:
        inner = [extent for extent in shape if extent > 1] or [1]
        flat = math.prod(inner[:-2]) > MATRICES
        inner = [inner[0], math.prod(inner[1:])] if flat else inner
        self.shape, self.most = list(shape), most
        long = len(inner) == 1 and inner[0] > ONE_ROW
        self.broken = long or flat
        if long:
            self.columns = 32
            while inner[0] > self.columns * self.columns // 2:
                self.columns *= 2
            self.rows = -(-inner[0] // self.columns)
        else:
            self.rows, self.columns = (
                [1, 1, *inner][-2:] if len(inner) > 1 or shape[-1] > 1 else (inner[0], 1)
            )
        self.count = math.prod(inner[:-2]) if len(inner) > 2 else 1
        self.across = max(self._ways(inner), key=self._cell)

    @property
    def label(self) -> str:
        """The shape in words."""
        return units.extents(self.shape) + (f", in rows of {self.columns}" if self.broken else "")

    def _ways(self, inner: Sequence[int]) -> list[int]:
        """How many matrices may stand beside each other: parts or multiples of one dimension."""
        beside = inner[-3] if self.count > 1 else 1
        return [
            n
            for n in range(1, self.count + 1)
            if self.count % n == 0 and (beside % n == 0 or n % beside == 0)
        ]

    def _cell(self, across: int) -> float:
        """The side of an element."""
        down = self.count // across
        wide = (self.most - BETWEEN * (across - 1)) / (across * self.columns)
        high = (self.most - BETWEEN * (down - 1)) / (down * self.rows)
        return min(CELL, wide, high)

    @cached_property
    def side(self) -> tuple[float, float]:
        """Width and height of an element. It is square where the matrix is not far longer than wide."""
        cell = self._cell(self.across)
        columns, rows = self.across * self.columns, self.count // self.across * self.rows
        wide, high = (max(cell, min(CELL, NARROWEST / extent)) for extent in (columns, rows))
        return wide, STRIP if self.rows * self.count == 1 else high

    @property
    def width(self) -> float:
        return self.across * (self.columns * self.side[0] + BETWEEN) - BETWEEN

    @property
    def height(self) -> float:
        return self.count // self.across * (self.rows * self.side[1] + BETWEEN) - BETWEEN

    def planes(self) -> Iterator[Box]:
        """Where each matrix lies."""
        wide, high = self.columns * self.side[0], self.rows * self.side[1]
        for number in range(self.count):
            down, across = divmod(number, self.across)
            yield across * (wide + BETWEEN), down * (high + BETWEEN), wide, high

    def boxes(self, pairs: Sequence[int]) -> Iterator[Box]:
        """Rectangles that cover these elements, given as pairs (first, last + 1)."""
        marked = np.zeros(self.count * self.rows * self.columns, bool)
        for first, last in zip(pairs[::2], pairs[1::2], strict=True):
            marked[first:last] = True
        wide, high = self.side
        matrices = marked.reshape(self.count, self.rows, self.columns)
        for (x, y, _, _), matrix in zip(self.planes(), matrices, strict=True):
            for top, bottom, left, right in _rectangles(matrix):
                yield x + left * wide, y + top * high, (right - left) * wide, (bottom - top) * high


def _rectangles(matrix: Mask) -> Iterator[tuple[int, int, int, int]]:
    """Rectangles (top, bottom, left, right) of marked elements: equal runs of neighbouring rows are one."""
    rows, edges = (found.tolist() for found in np.nonzero(np.diff(matrix, prepend=False, append=False)))
    marked: dict[int, set[tuple[int, int]]] = {}
    for row, left, right in zip(rows[::2], edges[::2], edges[1::2], strict=True):
        marked.setdefault(row, set()).add((left, right))
    under_way: dict[tuple[int, int], int] = {}
    for row in range(len(matrix) + 1):
        runs = marked.get(row, set())
        for run in sorted(under_way.keys() - runs):
            yield under_way.pop(run), row, *run
        for run in runs - under_way.keys():
            under_way[run] = row
