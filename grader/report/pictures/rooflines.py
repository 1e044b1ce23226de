"""The roofline of a ladder: every rung under the roofs of its device."""

from __future__ import annotations

from collections.abc import Sequence
from math import dist

from grader.analysis.roofline import LEVELS, NAMES, UNITS, Level, Placed, Roofs, roofs
from grader.report.pictures.svg import LogScale, Sheet, grid, heading, text_width
from grader.report.rooflines import OTHER_KERNEL_SAID, device_of, name_of, placed
from grader.results import Climb
from grader.workbook import units

WIDTH, LEFT, TOP, PLOT = 760.0, 84.0, 70.0, 340.0
COLOURS = {"dram": "blue", "l2": "green", "shared": "purple", "fma": "ink", "tensor": "red"}


def roofline(result: Climb) -> str:
    """FLOP a second against FLOP a byte, both logarithmic: roofs are lines, rungs points, one for each level of memory.

    A rung stands at its intensity at DRAM, L2 and shared memory, and at one height. Ladders that compute nothing,
    such as a transpose, are shown as shares of each roof instead. Times may be measured or modelled; the title says.
    """
    rungs = placed(result)
    ceiling = roofs(device_of(result))
    if not rungs:
        return _empty(result)
    if not any(rung.work.flop for rung in rungs):
        return _shares(result, rungs, ceiling)
    return _Chart(result, rungs, ceiling).draw()


def _title(result: Climb, rungs: Sequence[Placed]) -> str:
    sources = " and ".join(sorted({rung.time_source for rung in rungs if rung.time_source}))
    return f"Roofline of {result.topic} on {result.device.name} ({sources})"


def _empty(result: Climb) -> str:
    title = f"Roofline of {result.topic}, {result.device.name}"
    sheet = Sheet(WIDTH, 72, title, "No version was both timed and counted.")
    heading(sheet, title, "No version was both timed and counted.")
    return sheet.render()


def _said(rung: Placed) -> str:
    near = f"{units.percent(rung.share)} % of {NAMES[rung.limited_by]}"
    return (
        f"{name_of(rung)}: {units.rate(rung.flop_rate, 'FLOP/s')}, {near}"
        if rung.work.flop
        else f"{name_of(rung)}: {near}"
    )


def _footnote_height(rungs: Sequence[Placed]) -> int:
    return 20 if any(rung.other_kernel for rung in rungs) else 0


def _footnote(sheet: Sheet, rungs: Sequence[Placed]) -> None:
    """What the mark behind a rung's name says, on the last line."""
    if _footnote_height(rungs):
        sheet.text(16, sheet.height - 8, OTHER_KERNEL_SAID, "dim", size=11.5)


class _Chart:
    """One drawing."""

    def __init__(self, result: Climb, rungs: Sequence[Placed], ceiling: Roofs) -> None:
        self.rungs, self.ceiling = rungs, ceiling
        self.taken: list[tuple[float, float]] = []  # where points and their numbers stand
        self.units = [unit for unit in UNITS if unit == "fma" or any(r.work.tensor_flop for r in rungs)]
        self.levels = [level for level in LEVELS if any(rung.work.traffic(level) for rung in rungs)]
        title = _title(result, rungs)
        said = ". ".join(_said(rung) for rung in rungs)
        height = TOP + PLOT + 68 + 20 * ((len(rungs) + 1) // 2) + _footnote_height(rungs)
        self.sheet = Sheet(WIDTH, height, title, f"{said}.")
        heading(self.sheet, title, units.problem(result.problem))
        top = max(getattr(ceiling, unit) for unit in self.units)
        places = [i for rung in rungs for level in self.levels if (i := rung.intensity(level))]
        ridges = [ceiling.ridge(level, unit) for level in self.levels for unit in self.units]
        self.x = LogScale(min([*places, *ridges]) / 2, max([*places, *ridges]) * 4, LEFT, WIDTH - 24)
        slowest = min(rung.flop_rate for rung in rungs if rung.work.flop)
        self.y = LogScale(slowest / 3, top * 2, TOP + PLOT, TOP)

    def draw(self) -> str:
        self._axes()
        for unit in self.units:
            self._flat_roof(unit)
        for level in self.levels:
            self._slope(level)
        self.taken = [
            (self.x(intensity), self.y(rung.flop_rate))
            for rung in self.rungs
            for level in self.levels
            if (intensity := rung.intensity(level)) is not None
        ]
        for number, rung in enumerate(self.rungs):
            for level in self.levels:
                self._point(number, rung, level)
        self._legend()
        return self.sheet.render()

    def _axes(self) -> None:
        grid(self.sheet, self.x, self.y, (units.count, units.count), "FLOP a byte")
        self.sheet.text(22, TOP + PLOT / 2, "FLOP/s", "dim", size=12, anchor="middle", turned=-90)

    def _flat_roof(self, unit: str) -> None:
        rate = getattr(self.ceiling, unit)
        start = min(self.ceiling.ridge(level, unit) for level in self.levels)  # type: ignore[arg-type]
        self.sheet.line([(self.x(start), self.y(rate)), (self.x.end, self.y(rate))], COLOURS[unit], 2)
        label = f"{NAMES[unit]} {units.rate(rate, 'FLOP/s')}"
        self.sheet.text(self.x.end, self.y(rate) - 6, label, COLOURS[unit], size=12, anchor="end")

    def _slope(self, level: Level) -> None:
        rate = getattr(self.ceiling, level)
        top = max(getattr(self.ceiling, unit) for unit in self.units)
        first = max(self.x.low, self.y.low / rate)
        ends = [(self.x(first), self.y(first * rate)), (self.x(top / rate), self.y(top))]
        self.sheet.line(ends, COLOURS[level], 2, tip=f"{NAMES[level]}: {units.rate(rate, 'B/s')}")

    def _point(self, number: int, rung: Placed, level: Level) -> None:
        intensity = rung.intensity(level)
        if intensity is None:
            return
        x, y = self.x(intensity), self.y(rung.flop_rate)
        tip = f"{_said(rung)}; {units.digits(intensity)} FLOP a byte of {NAMES[level]}"
        self.sheet.circle(x, y, 4, COLOURS[level], hollow=rung.time_source == "modelled", tip=tip)
        beside = self._free_place(x, y)
        self.taken.append(beside)
        self.sheet.text(
            beside[0], beside[1] + 4, str(number), COLOURS[level], size=11, anchor="middle", bold=True
        )

    def _free_place(self, x: float, y: float) -> tuple[float, float]:
        """The place nearest to a point where its number covers no other number and no point."""
        steps = [9.5 * step for step in range(-8, 9)]
        around = sorted(((x + dx, y + dy) for dx in steps for dy in steps), key=lambda at: dist(at, (x, y)))
        free = (at for at in around if all(abs(at[0] - u) > 9 or abs(at[1] - v) > 9 for u, v in self.taken))
        return next(free, (x + 9, y))

    def _legend(self) -> None:
        x = LEFT
        for level in self.levels:
            label = f"{NAMES[level]} {units.rate(getattr(self.ceiling, level), 'B/s')}"
            self.sheet.circle(x + 6, TOP + PLOT + 52, 6, COLOURS[level])
            self.sheet.text(x + 18, TOP + PLOT + 56, label, "dim", size=12)
            x += 44 + text_width(label, 12)
        for number, rung in enumerate(self.rungs):
            column, row = divmod(number, (len(self.rungs) + 1) // 2)
            text = f"{number}  {_said(rung)}"
            self.sheet.text(16 + 372 * column, TOP + PLOT + 80 + 20 * row, text, size=11.5)
        _footnote(self.sheet, self.rungs)


def _shares(result: Climb, rungs: Sequence[Placed], ceiling: Roofs) -> str:
    """Bars: how much of each roof's time a rung takes; the longest is the roof it comes nearest to."""
    title = _title(result, rungs)
    levels = [level for level in LEVELS if any(rung.work.traffic(level) for rung in rungs)]
    left = 28 + max(text_width(name_of(rung)) for rung in rungs)
    row = 12.0 * len(levels) + 12
    scale = WIDTH - 72 - left
    height = TOP + row * len(rungs) + 56 + _footnote_height(rungs)
    sheet = Sheet(WIDTH, height, title, ". ".join(_said(rung) for rung in rungs) + ".")
    heading(sheet, title, units.problem(result.problem))
    for quarter in range(5):
        x = left + quarter / 4 * scale
        sheet.line([(x, TOP), (x, TOP + row * len(rungs))], "grid", 1)
        label = f"{25 * quarter} %"
        sheet.text(x, TOP + row * len(rungs) + 18, label, "dim", size=12, anchor="middle")
    for place, rung in enumerate(rungs):
        y = TOP + row * place + 6
        sheet.text(16, y + row / 2 - 2, name_of(rung))
        for number, level in enumerate(levels):
            share = rung.share_of(level)
            length = share * scale
            sheet.rect(left, y + 12 * number, max(length, 1), 10, COLOURS[level])
            label = f"{units.percent(share)} %"
            sheet.text(left + length + 6, y + 12 * number + 9, label, "dim", size=11)
    x = left
    for level in levels:
        label = f"of {NAMES[level]}, {units.rate(getattr(ceiling, level), 'B/s')}"
        sheet.rect(x, TOP + row * len(rungs) + 34, 12, 12, COLOURS[level])
        sheet.text(x + 18, TOP + row * len(rungs) + 44, label, "dim", size=12)
        x += 40 + text_width(label, 12)
    _footnote(sheet, rungs)
    return sheet.render()
