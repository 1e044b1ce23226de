"""Time against batch: a matrix of weights times ever more vectors, as its bytes and its arithmetic allow."""

from __future__ import annotations

from dataclasses import replace

from grader.analysis.batches import Batch
from grader.report.pictures.svg import LogScale, Sheet, grid, heading
from grader.workbook import units

WIDTH, LEFT, RIGHT, TOP, PLOT = 760.0, 84.0, 24.0, 70.0, 260.0
MOST = 4096
"""Vectors at the right end."""


def batch(of: Batch) -> str:
    """The least time against the number of vectors, both logarithmic, with a point at the batch itself."""
    weights = f"{units.count(of.weights)} weights of {units.digits(of.bits)} bits"
    title = f"{units.number_of(of.vectors, 'vector')} times {weights}, {of.device.name}"
    limit = "memory" if of.reading_s > of.arithmetic_s else "arithmetic"
    said = (
        f"Reading takes at least {units.seconds(of.reading_s)}, arithmetic {units.seconds(of.arithmetic_s)}: "
        f"{limit} is the limit. Both are equal at {units.digits(of.ridge)} vectors."
    )
    sheet = Sheet(WIDTH, TOP + PLOT + 50, title, said)
    heading(sheet, title, said)
    ends = [replace(of, vectors=vectors) for vectors in (1, MOST)]
    x = LogScale(1, MOST, LEFT, WIDTH - RIGHT)
    y = LogScale(ends[0].arithmetic_s / 2, 2 * ends[1].least_s, TOP + PLOT, TOP)
    grid(sheet, x, y, (lambda vectors: f"{vectors:,.0f}", units.seconds), "vectors")
    sheet.line([(x(end.vectors), y(end.reading_s)) for end in ends], "blue", tip="reading the weights")
    sheet.line([(x(end.vectors), y(end.arithmetic_s)) for end in ends], "red", tip="arithmetic")
    sheet.text(x(1) + 8, y(of.reading_s) - 8, "reading the weights", "blue", size=12)
    sheet.text(x(1) + 32, y(ends[0].arithmetic_s) + 4, "arithmetic", "red", size=12)
    reached = [
        (x(1), y(of.reading_s)),
        (x(of.ridge), y(of.reading_s)),
        (x(MOST), y(ends[1].arithmetic_s)),
    ]
    sheet.line(reached, "ink", 3, tip="the longer of both")
    sheet.circle(x(of.vectors), y(of.least_s), 6, "ink", tip=units.seconds(of.least_s))
    return sheet.render()
