"""Latency: how warps hide it, and how many bytes have to be under way."""

from __future__ import annotations

from math import ceil

from figures.chart import Axis, Chart
from grader.analysis.devices import named
from grader.analysis.occupancy import WARP
from grader.report import pictures
from grader.report.pictures.svg import SERIES, Sheet, heading
from grader.workbook import units

WIDTH = 760.0
BOARD = named("H200")
FLOAT = 4  # bytes
KIB = 1024


def needed() -> float:
    """Bytes that an SM must have under way for DRAM to be busy: Little's law, with the latency of an idle board."""
    return BOARD.dram_read * BOARD.dram_latency / BOARD.clock_hz / BOARD.sms


def hiding() -> str:
    """One scheduler with one warp, and with as many as it takes for it never to wait."""
    work, wait, clocks = 4, 12, 46
    enough = 1 + wait // work
    title = f"A warp works for {work} clocks, then waits {wait} for memory"
    below = f"One scheduler, time to the right. With one warp it is idle most of the time; with {enough} it never is."
    sheet = Sheet(WIDTH, 74 + 28 * (enough + 4), title, below)
    heading(sheet, title, below)
    bottom = _schedule(sheet, 70, 1, work, wait, clocks)
    _schedule(sheet, bottom + 22, enough, work, wait, clocks)
    return sheet.render()


def _schedule(sheet: Sheet, top: float, warps: int, work: int, wait: int, clocks: int) -> float:
    """Rows of warps and the scheduler's below them; returns where they end."""
    left, cell = 100.0, (WIDTH - 116.0) / clocks
    busy: dict[int, str] = {}
    for warp in range(warps):
        y = top + 26 * warp
        sheet.text(16, y + 15, f"warp {warp}", "dim", size=12)
        sheet.rect(left, y, cell * clocks, 20, "empty", radius=2)
        for start in range(warp * work, clocks, work + wait):
            end = min(start + work, clocks)
            colour = SERIES[warp % len(SERIES)]
            sheet.rect(left + cell * start, y, cell * (end - start) - 1, 20, colour, radius=2)
            busy.update(dict.fromkeys(range(start, end), colour))
    y = top + 26 * warps
    sheet.text(16, y + 15, "scheduler", size=12, bold=True)
    sheet.rect(left, y, cell * clocks, 20, "empty", outline="dim", radius=2)
    for clock, colour in busy.items():
        sheet.rect(left + cell * clock, y + 2, cell - 0.6, 16, colour)
    return y + 20


def little() -> str:
    """Bandwidth over the bytes that each SM has under way."""
    most, rate, bend = 64.0, BOARD.dram_read, needed() / KIB
    title = f"Little's law on an {BOARD.name}: bandwidth is bytes under way over latency"
    below = (
        f"At {units.digits(bend)} KiB an SM DRAM is busy; with less, time is spent waiting. "
        "A model: latency is that of an idle board."
    )
    tera = 1e12
    chart = Chart(
        title,
        below,
        Axis("KiB under way in each SM", 0, most, [(mark, str(mark)) for mark in range(0, 65, 8)]),
        Axis("TB/s", 0, 5, [(mark, str(mark)) for mark in range(6)]),
    )
    chart.line([(0, 0), (bend, rate / tera), (most, rate / tera)], "blue")
    chart.line([(bend, 0), (bend, rate / tera)], "dim", dashed=True)
    threads = BOARD.capability.warps * WARP
    for text, size, colour, below_line in (
        (f"{threads:,} threads, a float each", threads * FLOAT, "red", True),
        (f"{threads:,} threads, 4 floats each", threads * 4 * FLOAT, "green", False),
        (f"{threads // 4:,} threads, 4 float4s each", threads // 4 * 16 * FLOAT, "green", True),
    ):
        x = size / KIB
        y = rate / tera * min(1.0, x / bend)
        chart.point(x, y, colour, text)
        if below_line:
            chart.label(x, y, text, colour, dx=10, dy=22)
        else:
            chart.label(x, y, text, colour, dy=-12)
    return chart.render()


def parallelism() -> str:
    """How many warps an SM needs, by how many floats each thread has under way."""
    found = []
    for floats in (1, 2, 4, 8, 16, 32):
        warps = ceil(needed() / (WARP * FLOAT * floats))
        fits = warps <= BOARD.capability.warps
        share = units.percent(warps / BOARD.capability.warps)
        name = f"{units.number_of(floats, 'float')} under way in each thread"
        name += "" if fits else f": more than the {BOARD.capability.warps} that an SM holds"
        found.append(pictures.Bar(name, warps, f"{warps}: {share} %", "blue" if fits else "red"))
    return pictures.bars_for_pages("Warps an SM that keep DRAM busy, and what occupancy that is", found)


def registers() -> str:
    """Occupancy by registers, for blocks of 256 threads."""
    return pictures.occupancy(BOARD, "registers", threads=256, registers=128)
