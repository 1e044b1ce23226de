"""A ladder: each rung at its time."""

from __future__ import annotations

from dataclasses import dataclass

from grader.report.pictures.svg import LogScale, Sheet, text_width, wrapped
from grader.results import Climb, RungResult
from grader.workbook import units

WIDE, NARROW = 760.0, 360.0
STACKED_BELOW = 560.0  # narrower than this, a rung's words stand above its point instead of beside it
MARGIN, LINE, SMALL = 16.0, 20.0, 12.0
TICK = 45.0  # from one tick to the next there is room for a label


@dataclass(frozen=True)
class Yardstick:
    """A line across all rungs: a baseline, or the bound."""

    label: str
    time_s: float
    colour: str
    dashed: bool = False


def ladder(result: Climb, width: float = WIDE) -> str:
    """A row for each rung with a point at its time, on a logarithmic axis; baselines and the bound are lines.

    A measured time is a full point with its 95 % interval, a modelled one a ring. A rung without a time says why.
    `width` is what the picture has, in pixels; in a narrow one words stand above points.
    """
    return _Ladder(result, width).render()


def ladder_for_pages(result: Climb) -> str:
    """HTML: the picture for wide pages and the one for narrow pages, of which the page's style sheet shows one."""
    drawn = {"wide": ladder(result), "narrow": ladder(result, NARROW)}
    return "".join(f'<div class="picture-{name}">{picture}</div>' for name, picture in drawn.items())


class _Ladder:
    """The picture in the making: where its rows are, and how wide they are."""

    def __init__(self, result: Climb, width: float) -> None:
        self.result = result
        self.stacked = width < STACKED_BELOW
        self.lines = _yardsticks(result)
        self.title = wrapped(_title(result), width - 2 * MARGIN, 14)
        self.problem = wrapped(units.problem(result.problem), width - 2 * MARGIN, SMALL)
        names = max((text_width(rung.id) for rung in result.rungs), default=0)
        self.left = MARGIN + 8 if self.stacked else MARGIN + 8 + names + 12
        self.right = width - (MARGIN + 8 if self.stacked else 150)
        self.row = 42.0 if self.stacked else 30.0
        self.top = 26 + LINE * (len(self.title) + len(self.problem))
        self.below = self.top + self.row * len(result.rungs)
        start = MARGIN if self.stacked else self.left
        self.legend = [
            (line, start, wrapped(line.label, width - MARGIN - start - 34, SMALL)) for line in self.lines
        ]
        height = self.below + 44 + LINE * sum(len(words) for _, _, words in self.legend)
        self.sheet = Sheet(width, height, _title(result), _description(result))

    def render(self) -> str:
        self._heading()
        times = [rung.time_s for rung in self.result.rungs if rung.time_s]
        times += [line.time_s for line in self.lines]
        if not times:
            self.sheet.text(MARGIN, self.top, "Nothing was timed.", "dim")
            return self.sheet.render()
        scale = LogScale(0.8 * min(times), 1.25 * max(times), self.left, self.right)
        self._axis(scale)
        for line in self.lines:
            self._upright(scale(line.time_s), line.colour, dashed=line.dashed)
        self._path(scale)
        for number, rung in enumerate(self.result.rungs):
            self._rung(rung, self._height_of_point(number), scale)
        self._legend()
        return self.sheet.render()

    def _heading(self) -> None:
        y = 26.0
        for words in self.title:
            self.sheet.text(MARGIN, y, words, bold=True, size=14)
            y += LINE
        for words in self.problem:
            self.sheet.text(MARGIN, y, words, "dim", size=SMALL)
            y += LINE

    def _axis(self, scale: LogScale) -> None:
        for value in scale.ticks(TICK):
            self._upright(scale(value), "grid", 1)
            place = scale(value), self.below + 18
            self.sheet.text(*place, units.seconds(value), "dim", size=SMALL, anchor="middle")

    def _upright(self, x: float, colour: str, width: float = 1.5, *, dashed: bool = False) -> None:
        self.sheet.line([(x, self.top), (x, self.below)], colour, width, dashed=dashed)

    def _height_of_point(self, number: int) -> float:
        return self.top + self.row * number + (30 if self.stacked else self.row / 2)

    def _path(self, scale: LogScale) -> None:
        """The way down the ladder, past rungs marked †."""
        points = [
            (scale(rung.time_s), self._height_of_point(number))
            for number, rung in enumerate(self.result.rungs)
            if rung.time_s and not rung.side_step
        ]
        if len(points) > 1:
            self.sheet.line(points, "blue", 1)

    def _rung(self, rung: RungResult, y: float, scale: LogScale) -> None:
        above = y - 14
        name, colour = (f"{rung.id} †", "dim") if rung.side_step else (rung.id, "ink")
        self._words(MARGIN, above if self.stacked else y + 4, name, colour)
        end = self.sheet.width - MARGIN
        if rung.time_s is None:
            if self.stacked:
                self._words(end, above, rung.verdict, "red", at_end=True)
            else:
                self.sheet.text(scale.start + 8, y + 4, rung.verdict, "red")
            return
        said = _time(rung) + ("" if rung.vs_naive is None else f"  ×{units.ratio(rung.vs_naive)}")
        if self.stacked:
            self._words(end, above, said, size=SMALL, at_end=True)
        else:
            self._words(scale(rung.time_s) + 12, y + 4, said, size=SMALL)
        self._point(rung, rung.time_s, y, scale)

    def _point(self, rung: RungResult, time_s: float, y: float, scale: LogScale) -> None:
        if rung.time_low_s is not None and rung.time_high_s is not None:
            self.sheet.line([(scale(rung.time_low_s), y), (scale(rung.time_high_s), y)], "blue", 3)
        tip = f"{rung.id}: {_time(rung)}"
        self.sheet.circle(scale(time_s), y, 5.5, "blue", hollow=rung.time_source == "modelled", tip=tip)

    def _words(
        self, x: float, y: float, text: str, colour: str = "ink", *, size: float = 13, at_end: bool = False
    ) -> None:
        """A text on a ground of its own, so that lines behind it do not cross it; `at_end`: it ends at x."""
        width = text_width(text, size)
        start = x - width if at_end else x
        self.sheet.rect(start - 2, y - size + 1, width + 4, size + 3, "ground", opacity=0.8)
        self.sheet.text(x, y, text, colour, size=size, anchor="end" if at_end else "start")

    def _legend(self) -> None:
        y = self.below + 44
        for line, start, lines in self.legend:
            self.sheet.line([(start, y - 4), (start + 26, y - 4)], line.colour, dashed=line.dashed)
            for words in lines:
                self.sheet.text(start + 34, y, words, "dim", size=SMALL)
                y += LINE


def _title(result: Climb) -> str:
    sources = sorted({rung.time_source for rung in result.rungs if rung.time_source})
    how = f" ({' and '.join(sources)})" if sources else ""
    return f"The ladder of {result.topic} on {result.device.name}{how}"


def _description(result: Climb) -> str:
    rungs = "; ".join(f"{rung.id} {_time(rung)}" for rung in result.rungs)
    lines = "; ".join(line.label for line in _yardsticks(result))
    return f"Time of each version: {rungs}." + (f" Beside them: {lines}." if lines else "")


def _time(rung: RungResult) -> str:
    return rung.verdict if rung.time_s is None else units.seconds(rung.time_s, rung.time_source)


def _yardsticks(result: Climb) -> list[Yardstick]:
    """The baselines, of which only the first has a full line, and the bound."""
    found = [
        Yardstick(f"{item.name}: {units.seconds(item.time_s)}", item.time_s, "green", bool(number))
        for number, item in enumerate(result.baselines)
    ]
    if result.bound is not None:
        time = units.seconds(result.bound.time_s, result.bound.source)
        found.append(Yardstick(f"{result.bound.by} bound: {time}", result.bound.time_s, "red"))
    return found
