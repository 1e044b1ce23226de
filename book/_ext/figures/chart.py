"""Lines and points over two axes, each linear or logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.report.pictures.svg import Anchor, LogScale, Sheet, heading, text_width

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 760.0, 84.0, 28.0, 68.0, 56.0

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """From where to where an axis goes, and what stands at its marks."""

    label: str
    low: float
    high: float
    marks: Sequence[tuple[float, str]]
    log: bool = False

    def place(self, value: float, start: float, end: float) -> float:
        """Where a value lies between two places of the sheet."""
        if self.log:
            return LogScale(self.low, self.high, start, end)(value)
        return start + (value - self.low) / (self.high - self.low) * (end - start)


class Chart:
    """A sheet with axes; places are given in the axes' own units."""

    def __init__(self, title: str, below: str, x: Axis, y: Axis, height: float = 380.0) -> None:
        self.sheet = Sheet(WIDTH, height, title, below)
        self.x, self.y, self.height = x, y, height
        heading(self.sheet, title, below)
        for value, name in y.marks:
            at = self._y(value)
            self.sheet.line([(LEFT, at), (WIDTH - RIGHT, at)], "grid", 1)
            self.sheet.text(LEFT - 8, at + 4, name, "dim", size=12, anchor="end")
        for value, name in x.marks:
            at = self._x(value)
            self.sheet.line([(at, height - BOTTOM), (at, height - BOTTOM + 5)], "dim", 1)
            self.sheet.text(at, height - BOTTOM + 20, name, "dim", size=12, anchor="middle")
        self.sheet.text((LEFT + WIDTH - RIGHT) / 2, height - 12, x.label, "dim", size=12, anchor="middle")
        middle = (TOP + height - BOTTOM) / 2
        self.sheet.text(20, middle, y.label, "dim", size=12, anchor="middle", turned=-90)

    def _x(self, value: float) -> float:
        return self.x.place(value, LEFT, WIDTH - RIGHT)

    def _y(self, value: float) -> float:
        return self.y.place(value, self.height - BOTTOM, TOP)

    def line(self, points: Sequence[Point], colour: str, *, dashed: bool = False) -> None:
        """A line through points."""
        self.sheet.line([(self._x(x), self._y(y)) for x, y in points], colour, 2.5, dashed=dashed)

    def point(self, x: float, y: float, colour: str, tip: str = "") -> None:
        """A disc at a place."""
        self.sheet.circle(self._x(x), self._y(y), 5, colour, tip=tip)

    def bar(self, x: float, y: float, width: float, colour: str, tip: str = "") -> None:
        """A bar of so many pixels' width from the bottom up to a place."""
        top, bottom = self._y(y), self.height - BOTTOM
        self.sheet.rect(self._x(x) - width / 2, top, width, bottom - top, colour, radius=1, tip=tip)

    def label(self, x: float, y: float, text: str, colour: str = "ink", *, anchor: Anchor = "start",
              dx: float = 0, dy: float = 0) -> None:  # fmt: skip
        """A text at a place, moved by some pixels, on a ground of its own."""
        width, at, base = text_width(text, 12), self._x(x) + dx, self._y(y) + dy
        start = at - {"start": 0, "middle": width / 2, "end": width}[anchor]
        self.sheet.rect(start - 2, base - 12, width + 4, 16, "ground", opacity=0.85)
        self.sheet.text(at, base, text, colour, size=12, anchor=anchor)

    def render(self) -> str:
        """The picture as SVG text."""
        return self.sheet.render()


def arrow(sheet: Sheet, start: Point, end: Point, colour: str = "dim", width: float = 1.5) -> None:
    """A line whose end has a head; level, upright or slanting."""
    (x0, y0), (x1, y1) = start, end
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5 or 1.0
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    sides = [(x1 - 8 * ux - 4 * side * uy, y1 - 8 * uy + 4 * side * ux) for side in (1, -1)]
    sheet.line([start, end], colour, width)
    sheet.line([sides[0], end, sides[1]], colour, width)


def block(sheet: Sheet, x: float, y: float, width: float, height: float, colour: str, text: str) -> None:
    """A filled rectangle with its name in the middle."""
    sheet.rect(x, y, width, height, colour, radius=4)
    sheet.text(x + width / 2, y + height / 2 + 4, text, "onto", size=12, anchor="middle")
