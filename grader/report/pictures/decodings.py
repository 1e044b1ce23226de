"""Time against group: a token's attention over a cache, as its bytes and its arithmetic allow."""

from __future__ import annotations

from dataclasses import replace

from grader.analysis.decoding import Decoding
from grader.report.pictures.svg import LogScale, Sheet, grid, heading
from grader.workbook import units

WIDTH, LEFT, RIGHT, TOP, PLOT = 760.0, 84.0, 24.0, 70.0, 260.0
FEWEST, MOST = 1024, 64 * 131072
"""Tokens of all sequences at which the axis of times begins and ends: it is the same for all."""


def decoding(of: Decoding) -> str:
    """The least time against how many query heads share a head of keys and values, both logarithmic, with a point at
    the case itself."""
    title = (
        f"{units.number_of(of.sequences, 'sequence')} of {of.tokens:,} tokens, {of.heads} query heads in groups of "
        f"{of.group}, {of.device.name}"
    )
    limit = "memory" if of.reading_s > of.arithmetic_s else "arithmetic"
    said = (
        f"Reading {units.rate(of.cache, 'B')} takes at least {units.seconds(of.reading_s)}, arithmetic "
        f"{units.seconds(of.arithmetic_s)}: {limit} is the limit. Both would be equal at {units.digits(of.ridge)}."
    )
    sheet = Sheet(WIDTH, TOP + PLOT + 50, title, said)
    heading(sheet, title, said)
    one, all_share = (replace(of, group=group) for group in (1, of.heads))
    x = LogScale(1, of.heads, LEFT, WIDTH - RIGHT)
    fewest, most = (replace(one, sequences=1, tokens=tokens) for tokens in (FEWEST, MOST))
    y = LogScale(fewest.arithmetic_s / 2, 2 * most.reading_s, TOP + PLOT, TOP)
    grid(
        sheet,
        x,
        y,
        (lambda group: f"{group:,.0f}", units.seconds),
        "query heads for each head of keys and values",
    )
    sheet.line([(x(end.group), y(end.arithmetic_s)) for end in (one, all_share)], "red", tip="arithmetic")
    sheet.line(
        [(x(end.group), y(end.reading_s)) for end in (one, all_share)], "blue", tip="reading the cache"
    )
    sheet.line(
        [(x(end.group), y(end.least_s)) for end in (one, all_share)], "ink", 3, tip="the longer of both"
    )
    sheet.text(x(1) + 32, y(one.reading_s) - 4, "reading the cache", "blue", size=12)
    sheet.text(x(1) + 32, y(of.arithmetic_s) - 8, "arithmetic", "red", size=12)
    sheet.circle(x(of.group), y(of.least_s), 6, "ink", tip=units.seconds(of.least_s))
    return sheet.render()
