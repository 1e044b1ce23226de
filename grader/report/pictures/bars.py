"""Bars below one another, each with its words above it: how many of a class, and the like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.report.pictures.svg import Sheet, wrapped

WIDE, NARROW = 760.0, 340.0
MARGIN, LINE, THICK, GAP = 16.0, 18.0, 14.0, 12.0
TITLE = 22.0  # a line of the title
VALUE = 70.0  # what is left of a bar's line for its value


@dataclass(frozen=True)
class Bar:
    """One of them."""

    label: str
    length: float  # of the same kind and sign as the others'
    value: str  # what stands behind it
    colour: str = "blue"  # one of svg.COLOURS


def bars(title: str, found: Sequence[Bar], longest: float = 0.0, width: float = WIDE) -> str:
    """Bars in their order, `width` pixels in all; `longest` is what a whole line stands for, if no bar is longer."""
    whole = max([longest, *(bar.length for bar in found)]) or 1.0
    room = width - 2 * MARGIN
    words = [wrapped(bar.label, room) for bar in found]
    above = wrapped(title, room, 14)
    top = GAP + TITLE * len(above) + GAP
    height = top + sum(LINE * len(lines) + THICK + GAP for lines in words)
    said = "; ".join(f"{bar.label}: {bar.value}" for bar in found)
    sheet = Sheet(width, height, title, said)
    for number, line in enumerate(above):
        sheet.text(MARGIN, GAP + TITLE * number + 14, line, bold=True, size=14)
    y = top
    for bar, lines in zip(found, words, strict=True):
        for line in lines:
            sheet.text(MARGIN, y + LINE - 6, line)
            y += LINE
        sheet.rect(MARGIN, y, room - VALUE, THICK, "empty", radius=3)
        sheet.rect(MARGIN, y, (room - VALUE) * bar.length / whole, THICK, bar.colour, radius=3)
        sheet.text(width - MARGIN, y + THICK - 2, bar.value, "dim", size=12, anchor="end")
        y += THICK + GAP
    return sheet.render()


def bars_for_pages(title: str, found: Sequence[Bar], longest: float = 0.0) -> str:
    """HTML: the picture for wide pages and the one for narrow pages, of which the page's style sheet shows one."""
    drawn = {
        "wide": bars(title, found, longest),
        "narrow": bars(title, found, longest, NARROW),
    }
    return "".join(f'<div class="picture-{name}">{picture}</div>' for name, picture in drawn.items())
