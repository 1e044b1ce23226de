"""Debugging and profiling: which tool answers which question, and what it shows."""

from __future__ import annotations

from pathlib import Path

import experiments

from figures.chart import arrow
from grader.emulator import metrics
from grader.report import pictures
from grader.report.pictures.svg import Sheet, heading
from grader.results import Climb, load
from grader.workbook import units

WIDTH = 760.0
ROOT = Path(__file__).resolve().parents[3]


def order() -> str:
    """From a question to the tool that answers it."""
    title = "First right, then fast: which tool to ask"
    below = "From top to bottom; a question is asked only when the one above it is answered."
    rows = (
        ("Are the results right?", "compute-sanitizer", "findings of ladder grade", "red"),
        (
            "Which part of the program takes the time?",
            "Nsight Systems",
            "ladder profile of a schedule",
            "orange",
        ),
        ("What limits this kernel?", "Nsight Compute", "ladder roofline, ladder profile", "blue"),
        ("Which line costs it?", "Nsight Compute, Source page", "ladder profile, line by line", "green"),
    )
    sheet = Sheet(WIDTH, 94 + 64 * len(rows), title, below)
    heading(sheet, title, below)
    for x, name in ((16, "question"), (352, "on a GPU"), (566, "here, GPU or not")):
        sheet.text(x, 76, name, "dim", size=12)
    for row, (question, tool, ours, colour) in enumerate(rows):
        y = 86 + 64 * row
        sheet.rect(16, y, 300, 44, colour, radius=6)
        sheet.text(166, y + 27, question, "onto", size=13, anchor="middle")
        sheet.text(352, y + 27, tool, size=13)
        sheet.text(566, y + 27, ours, "dim", size=12)
        if row + 1 < len(rows):
            arrow(sheet, (166, y + 46), (166, y + 62))
    return sheet.render()


def timeline() -> str:
    """A schedule with two streams, as it ran on an H200."""
    climb = load(ROOT / "measurements" / "h200" / "streams.json", Climb)
    rung = next(rung for rung in climb.rungs if rung.id.startswith("03"))
    title = f"streams, {rung.id}, on {climb.device.name} ({rung.time_source})"
    return pictures.intervals(rung.timeline, rung.time_source, title)


def lines() -> str:
    """Bank conflicts of a kernel, by the line of its source."""
    run = experiments.shared_tile()
    conflicts = [metrics.SHARED_CONFLICTS[kind] for kind in ("ld", "st")]
    found = []
    for line in run.lines:
        requests = line.counters.get(metrics.SHARED_INSTRUCTIONS["ld"], 0)
        requests += line.counters.get(metrics.SHARED_INSTRUCTIONS["st"], 0)
        if requests:
            count = sum(line.counters.get(name, 0) for name in conflicts)
            label = f"line {line.line}: {line.source}"
            found.append(pictures.Bar(label, count, units.number(count), "red" if count else "blue"))
    return pictures.bars_for_pages(
        "Bank conflicts by line, 02_shared_tile of the transpose, 256 × 256", found
    )
