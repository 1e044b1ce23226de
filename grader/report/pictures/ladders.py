"""A ladder: each rung at its time."""

from __future__ import annotations

from grader.report import units
from grader.report.pictures.svg import LogScale, Sheet, heading, text_width
from grader.results import Climb, RungResult

WIDTH, ROW, TOP, RIGHT = 760.0, 30.0, 66.0, 150.0


def ladder(result: Climb) -> str:
    """A row for each rung with a point at its time, on a logarithmic axis; baselines and the bound are lines.

    A measured time is a full point with its 95 % interval, a modelled one a ring. A rung without a time says why.
    """
    lines = _lines(result)
    left = 24 + max((text_width(rung.id) for rung in result.rungs), default=0) + 12
    below = TOP + ROW * len(result.rungs)
    sheet = Sheet(WIDTH, below + 44 + 20 * len(lines), _title(result), _description(result))
    heading(sheet, _title(result), units.problem(result.problem))
    times = [rung.time_s for rung in result.rungs if rung.time_s] + [time for _, time, *_ in lines]
    if not times:
        sheet.text(16, 66, "Nothing was timed.", "dim")
        return sheet.render()
    scale = LogScale(0.8 * min(times), 1.25 * max(times), left, WIDTH - RIGHT)
    _axis(sheet, scale, below)
    for _, time, colour, dashed in lines:
        sheet.line([(scale(time), TOP), (scale(time), below)], colour, dashed=dashed)
    _path(sheet, result, scale)
    for row, rung in enumerate(result.rungs):
        _rung(sheet, rung, TOP + ROW * (row + 0.5), scale)
    for row, (label, _, colour, dashed) in enumerate(lines):
        y = below + 44 + 20 * row
        sheet.line([(left, y - 4), (left + 26, y - 4)], colour, dashed=dashed)
        sheet.text(left + 34, y, label, "dim", size=12)
    return sheet.render()


def _title(result: Climb) -> str:
    sources = sorted({rung.time_source for rung in result.rungs if rung.time_source})
    how = f" ({' and '.join(sources)})" if sources else ""
    return f"The ladder of {result.topic} on {result.device.name}{how}"


def _description(result: Climb) -> str:
    rungs = "; ".join(f"{rung.id} {_time(rung)}" for rung in result.rungs)
    lines = "; ".join(label for label, *_ in _lines(result))
    return f"Time of each version: {rungs}." + (f" Beside them: {lines}." if lines else "")


def _time(rung: RungResult) -> str:
    return rung.verdict if rung.time_s is None else units.seconds(rung.time_s, rung.time_source)


def _lines(result: Climb) -> list[tuple[str, float, str, bool]]:
    """Label, seconds, colour and whether dashed, of baselines and the bound."""
    found = [
        (f"{item.name}: {units.seconds(item.time_s)}", item.time_s, "green", bool(number))
        for number, item in enumerate(result.baselines)
    ]
    if result.bound is not None:
        time = units.seconds(result.bound.time_s, result.bound.source)
        found.append((f"{result.bound.by} bound: {time}", result.bound.time_s, "red", False))
    return found


def _axis(sheet: Sheet, scale: LogScale, below: float) -> None:
    for value in scale.ticks():
        sheet.line([(scale(value), TOP), (scale(value), below)], "grid", 1)
        sheet.text(scale(value), below + 18, units.seconds(value), "dim", size=12, anchor="middle")


def _path(sheet: Sheet, result: Climb, scale: LogScale) -> None:
    """The way down the ladder, past side steps."""
    points = [
        (scale(rung.time_s), TOP + ROW * (row + 0.5))
        for row, rung in enumerate(result.rungs)
        if rung.time_s and not rung.side_step
    ]
    if len(points) > 1:
        sheet.line(points, "blue", 1)


def _rung(sheet: Sheet, rung: RungResult, y: float, scale: LogScale) -> None:
    colour = "dim" if rung.side_step else "ink"
    sheet.text(16, y + 4, f"{rung.id} †" if rung.side_step else rung.id, colour)
    if rung.time_s is None:
        sheet.text(scale.start + 8, y + 4, rung.verdict, "red")
        return
    if rung.time_low_s is not None and rung.time_high_s is not None:
        sheet.line([(scale(rung.time_low_s), y), (scale(rung.time_high_s), y)], "blue", 3)
    tip = f"{rung.id}: {_time(rung)}"
    sheet.circle(scale(rung.time_s), y, 5.5, "blue", hollow=rung.time_source == "modelled", tip=tip)
    ratio = "" if rung.vs_naive is None else f"  ×{units.ratio(rung.vs_naive)}"
    sheet.text(scale(rung.time_s) + 12, y + 4, _time(rung) + ratio, size=12)
