"""The timeline of a schedule in the terminal: a row for each engine, a column for each slice of time."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from grader.results import Interval
from grader.workbook import units

ROWS = {"in": "copy in", "compute": "compute", "out": "copy out"}
STYLES = {"in": "blue", "compute": "green", "out": "magenta"}
WIDTH = 56
LEGEND = "in, compute, out: how much of the time the copy engines and the multiprocessors work."
INSTRUMENTED = "A timeline is of one run with an event before and after each command, which takes longer."

_SHADES = ((0.9, "█"), (0.6, "▓"), (0.3, "▒"), (0.02, "░"))


def gantt(timeline: Sequence[Interval], source: str | None) -> Text:
    """Three lines, one for each engine: how much of each slice of time it worked, and of the whole."""
    end = max((item.end_s for item in timeline), default=0.0)
    text = Text()
    for engine, name in ROWS.items():
        spans = [(item.start_s, item.end_s) for item in timeline if item.engine == engine]
        cells = [_shade(share) for share in busy(spans, end, WIDTH)]
        worked = sum(stop - start for start, stop in spans)
        text.append(f"  {name:<9}")
        text.append("".join(cells), STYLES[engine])
        text.append(f" {units.percent(worked / end if end else None):>3} %\n")
    return text.append(f"  {'':<9}0{units.seconds(end, source):>{WIDTH - 1}}", "dim")


def busy(spans: Sequence[tuple[float, float]], end: float, slices: int) -> list[float]:
    """How much of each of so many slices of [0, end] the spans cover; spans do not overlap."""
    width = end / slices if end else 1.0
    shares = [0.0] * slices
    for start, stop in spans:
        for number in range(int(start / width), min(slices, int(stop / width) + 1)):
            shares[number] += max(0.0, min(stop, (number + 1) * width) - max(start, number * width)) / width
    return shares


def shares(timeline: Sequence[Interval], seconds: float | None) -> dict[str, float]:
    """How much of a schedule's time each engine works; {} where it was not timed.

    `seconds` are those of the runs that were timed. The timeline is of another, in which events around each command
    keep the engines waiting, so that its own end would make them look idle.
    """
    if not timeline or not seconds:
        return {}
    return {
        engine: min(
            1.0, sum(item.end_s - item.start_s for item in timeline if item.engine == engine) / seconds
        )
        for engine in ROWS
    }


def _shade(share: float) -> str:
    return next((shade for least, shade in _SHADES if share >= least), " ")
