"""The timeline of a schedule: which engine of the device works when, and for which stream."""

from __future__ import annotations

from collections.abc import Sequence

from grader.report.pictures.svg import SERIES, Sheet, heading
from grader.results import Interval, Profile
from grader.workbook import units

WIDTH, LEFT, RIGHT, TOP, ROW = 760.0, 96.0, 24.0, 48.0, 34.0
ROWS = {
    "host_copy": "host copies",
    "host": "host waits",
    "in": "copy in",
    "compute": "compute",
    "out": "copy out",
}
HOST = ("host_copy", "host")


def timeline(result: Profile) -> str:
    """A schedule's run: a row for what the host does and for each engine, a colour for each stream."""
    of = f"{units.problem(result.problem)}, {result.device.name}"
    return intervals(result.timeline, result.timeline_source, result.file, of)


def intervals(spans: Sequence[Interval], source: str | None, title: str, below: str = "") -> str:
    """The same of any run's intervals; `source` is "measured" or "modelled", `below` a line below the title."""
    streams = sorted({span.stream for span in spans if span.engine not in HOST})
    end = max((span.end_s for span in spans), default=0.0)
    rows = {engine: name for engine, name in ROWS.items() if any(span.engine == engine for span in spans)}
    top = TOP + 18 * bool(below)
    bottom = top + ROW * len(rows)
    sheet = Sheet(WIDTH, bottom + 64, title, _description(spans, end, source))
    heading(sheet, title, below)
    if not end:
        sheet.text(16, top + 14, "There is no timeline.", "dim")
        return sheet.render()
    scale = (WIDTH - LEFT - RIGHT) / end
    for row, (engine, name) in enumerate(rows.items()):
        y = top + ROW * row
        sheet.text(16, y + 20, name)
        sheet.line([(LEFT, y + ROW), (WIDTH - RIGHT, y + ROW)], "grid", 1)
        for span in spans:
            if span.engine == engine:
                colour = "dim" if engine in HOST else SERIES[streams.index(span.stream) % len(SERIES)]
                width = max(0.6, (span.end_s - span.start_s) * scale - 0.6)
                sheet.rect(LEFT + span.start_s * scale, y + 4, width, ROW - 8, colour, tip=_tip(span))
    sheet.text(LEFT, bottom + 18, "0", "dim", size=12)
    sheet.text(WIDTH - RIGHT, bottom + 18, units.seconds(end, source), "dim", size=12, anchor="end")
    _legend(sheet, streams, bottom + 46)
    return sheet.render()


def _tip(span: Interval) -> str:
    line = "" if span.line is None else f", line {span.line}"
    who = ROWS[span.engine] if span.engine in HOST else f"stream {span.stream}"
    return f"{who}: {units.seconds(span.end_s - span.start_s)}{line}"


def _legend(sheet: Sheet, streams: Sequence[int], y: float) -> None:
    for place, stream in enumerate(streams[:6]):
        sheet.rect(LEFT + 100 * place, y - 10, 12, 12, SERIES[place % len(SERIES)])
        sheet.text(LEFT + 100 * place + 18, y, f"stream {stream}", "dim", size=12)


def _description(spans: Sequence[Interval], end: float, source: str | None) -> str:
    def share(engine: str) -> str:
        worked = sum(span.end_s - span.start_s for span in spans if span.engine == engine)
        return f"{ROWS[engine]} {units.percent(worked / end if end else None)} %"

    rows = [row for row in ROWS if row != "host_copy" or any(span.engine == row for span in spans)]
    return f"How long each engine works, of {units.seconds(end, source)}: {', '.join(map(share, rows))}."
