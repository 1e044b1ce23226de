"""A sheet to draw on that becomes SVG text: the same text for the same calls, complete in itself, light or dark.

Every shape names a colour of `COLOURS`. Its light value stands in the shape, so that programs which know no CSS
draw it; a style sheet puts the dark value in its place where the reader's system, or the page around the picture
(Sphinx's `data-theme`, JupyterLab's `data-jp-theme-light`), is dark. No identifiers are used, so that any number of
pictures can stand in one page.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from math import ceil, floor, log10
from typing import Literal

COLOURS = {
    # name: (light, dark). Of text and lines, each has a contrast of at least 4.5 to its ground.
    "ground": ("#ffffff", "#16181d"),
    "ink": ("#1b1b1f", "#ececf1"),
    "dim": ("#5a5d64", "#a9adb6"),
    "grid": ("#e1e3e8", "#363a42"),
    "empty": ("#f1f2f5", "#23262d"),
    "blue": ("#1f5fa8", "#7fb9fb"),
    "orange": ("#a85300", "#ffb169"),
    "green": ("#1c7342", "#72d39c"),
    "red": ("#b3262a", "#ff8d84"),
    "purple": ("#6c41a5", "#c8a9ff"),
    "teal": ("#0b7079", "#63cfd8"),
    "onto": ("#ffffff", "#16181d"),  # text on a filled shape
}
SERIES = ("blue", "orange", "green", "purple", "teal", "red")

Anchor = Literal["start", "middle", "end"]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
EM = 0.56  # width of an average character over the font's size


def text_width(text: str, size: float = 13) -> float:
    """About how wide a text is, in units of the sheet."""
    return len(text) * size * EM


class Sheet:
    """A picture in the making; lengths are pixels at its natural size, y grows downwards."""

    def __init__(self, width: float, height: float, title: str, description: str) -> None:
        """`title` names the picture and `description` says what it shows, for those who cannot see it."""
        self.width, self.height = width, height
        self.title, self.description = title, description
        self._parts: list[str] = []
        self._used: set[str] = set()

    def rect(self, x: float, y: float, width: float, height: float, colour: str, *, opacity: float = 1.0,
             outline: str | None = None, radius: float = 0, tip: str = "") -> None:  # fmt: skip
        """A rectangle; `tip` is shown where the pointer rests on it."""
        if outline is not None:
            paint = self._stroke(outline, 1) + f' fill="{"none" if colour == "none" else COLOURS[colour][0]}"'
        else:
            paint = self._fill(colour)
        more = f' opacity="{_n(opacity)}"' if opacity < 1 else ""
        more += f' rx="{_n(radius)}"' if radius else ""
        box = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
        self._add("rect", f"{box} {paint}{more}", tip)

    def area(self, boxes: Sequence[tuple[float, float, float, float]], colour: str, *, opacity: float = 1.0,
             tip: str = "") -> None:  # fmt: skip
        """Rectangles (x, y, width, height) that are one shape: what many rectangles would draw, in less text."""
        path = "".join(f"M{_n(x)} {_n(y)}h{_n(w)}v{_n(h)}h-{_n(w)}z" for x, y, w, h in boxes)
        more = f' opacity="{_n(opacity)}"' if opacity < 1 else ""
        self._add("path", f'd="{path}" {self._fill(colour)}{more}', tip)

    def circle(self, x: float, y: float, radius: float, colour: str, *, hollow: bool = False,
               tip: str = "") -> None:  # fmt: skip
        """A disc, or with `hollow` a ring that covers what lies under it."""
        if hollow:
            self._add("circle", f'cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" {self._fill("ground")}')
        paint = f'{self._stroke(colour, 2)} fill="none"' if hollow else self._fill(colour)
        self._add("circle", f'cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" {paint}', tip)

    def line(self, points: Sequence[tuple[float, float]], colour: str, width: float = 1.5, *,
             dashed: bool = False, tip: str = "") -> None:  # fmt: skip
        """A line through points."""
        path = "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        paint = f'{self._stroke(colour, width)} fill="none" stroke-linejoin="round"{dash}'
        self._add("path", f'd="{path}" {paint}', tip)

    def text(self, x: float, y: float, text: str, colour: str = "ink", *, size: float = 13,
             anchor: Anchor = "start", bold: bool = False, turned: float = 0) -> None:  # fmt: skip
        """A text whose base line is at y; `turned` by so many degrees around its anchor."""
        more = f' text-anchor="{anchor}"' if anchor != "start" else ""
        more += ' font-weight="600"' if bold else ""
        more += f' transform="rotate({_n(turned)} {_n(x)} {_n(y)})"' if turned else ""
        place = f'x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}"'
        self._parts.append(f"<text {place} {self._fill(colour)}{more}>{escape(text, quote=False)}</text>")

    def render(self) -> str:
        """The picture as SVG text."""
        self._used.update(("ground",))
        size = f'width="{_n(self.width)}" height="{_n(self.height)}"'
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="warpladder" role="img" {size} '
            f'viewBox="0 0 {_n(self.width)} {_n(self.height)}" font-family="{escape(FONT)}" '
            'style="max-width:100%;height:auto">'
        )
        said = f"<title>{escape(self.title, quote=False)}</title><desc>{escape(self.description, quote=False)}</desc>"
        ground = f'<rect width="100%" height="100%" rx="6" {self._fill("ground")}/>'
        return (
            "\n".join([head, said, f"<style>{self._style()}</style>", ground, *self._parts, "</svg>"]) + "\n"
        )

    # ---- parts ---------------------------------------------------------------------------------------------
    def _add(self, name: str, attributes: str, tip: str = "") -> None:
        inside = f"><title>{escape(tip, quote=False)}</title></{name}>" if tip else "/>"
        self._parts.append(f"<{name} {attributes}{inside}")

    def _fill(self, colour: str) -> str:
        if colour == "none":
            return 'fill="none"'
        self._used.add(colour)
        return f'class="f-{colour}" fill="{COLOURS[colour][0]}"'

    def _stroke(self, colour: str, width: float) -> str:
        self._used.add(colour)
        return f'class="s-{colour}" stroke="{COLOURS[colour][0]}" stroke-width="{_n(width)}"'

    def _style(self) -> str:
        dark = self._rules(1, "")
        pages = (
            (0, "[data-theme=light] ", "[data-jp-theme-light=true] "),
            (1, "[data-theme=dark] ", "[data-jp-theme-light=false] "),
        )
        by_page = "".join(self._rules(tone, page) for tone, *names in pages for page in names)
        return f"@media (prefers-color-scheme:dark){{{dark}}}{by_page}"

    def _rules(self, tone: int, page: str) -> str:
        return "".join(
            f"{page}.warpladder .{kind}-{name}{{{what}:{COLOURS[name][tone]}}}"
            for name in sorted(self._used)
            for kind, what in (("f", "fill"), ("s", "stroke"))
            if any(f'class="{kind}-{name}"' in part for part in self._parts)
            or (kind, name) == ("f", "ground")
        )


def wrapped(text: str, width: float, size: float = 13) -> list[str]:
    """The text in lines that are about so wide at most."""
    return textwrap.wrap(text, max(1, int(width / (size * EM))))


def heading(sheet: Sheet, title: str, below: str = "") -> None:
    """A title, and a quieter line below it; of one that is too long, such as a path, the end is shown."""
    sheet.text(16, 26, _end_of(title, sheet.width - 32, 14), bold=True, size=14)
    if below:
        sheet.text(16, 46, _end_of(below, sheet.width - 32, 12), "dim", size=12)


def grid(
    sheet: Sheet,
    x: LogScale,
    y: LogScale,
    labels: tuple[Callable[[float], str], Callable[[float], str]],
    below: str,
) -> None:
    """Lines at the ticks of two axes, with what they stand for, by axis, and what lies along the one below."""
    label_x, label_y = labels
    for value in x.ticks():
        sheet.line([(x(value), y.end), (x(value), y.start)], "grid", 1)
        sheet.text(x(value), y.start + 18, label_x(value), "dim", size=12, anchor="middle")
    for value in y.ticks():
        sheet.line([(x.start, y(value)), (x.end, y(value))], "grid", 1)
        sheet.text(x.start - 8, y(value) + 4, label_y(value), "dim", size=12, anchor="end")
    sheet.text((x.start + x.end) / 2, y.start + 38, below, "dim", size=12, anchor="middle")


def _end_of(text: str, width: float, size: float) -> str:
    fitting = int(width / (size * EM))
    return text if len(text) <= fitting else f"…{text[1 - fitting :]}"


def _n(value: float) -> str:
    """A length with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0").replace("-0", "0") if abs(value) < 0.05 else (
        f"{value:.1f}".removesuffix(".0")
    )  # fmt: skip


class LogScale:
    """Where values lie on a logarithmic axis from `start` to `end`, lengths of the sheet."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        """Raises ValueError where the values are not positive, or not in order."""
        if not 0 < low < high:
            raise ValueError(f"a logarithmic axis from {low} to {high}")
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        share = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return self.start + share * (self.end - self.start)

    def ticks(self, gap: float = 0) -> list[float]:
        """1, 2 and 5 times powers of ten, fewer where there are many, or where their distance is below `gap`."""
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        for steps in ((1, 2, 5), (1, 3), (1,)):
            found = [step * 10.0**d for d in decades for step in steps]
            found = [value for value in found if self.low <= value <= self.high]
            near = any(self(second) - self(first) < gap for first, second in pairwise(found))
            if len(found) <= 9 and not near:
                return found
        return found
