"""Warps: which lanes work at which step, what divergence costs, and where they reconverge."""

from __future__ import annotations

import experiments

from figures.chart import arrow
from grader.analysis.occupancy import WARP
from grader.emulator import metrics
from grader.report import pictures
from grader.report.pictures.svg import Sheet, heading
from grader.workbook import units

WIDTH = 760.0
CELL, ROW = 10.0, 24.0
EVEN = tuple(lane for lane in range(WARP) if lane % 2 == 0)
ODD = tuple(lane for lane in range(WARP) if lane % 2)
ALL = tuple(range(WARP))

Step = tuple[str, tuple[int, ...], str]  # what is executed, by which lanes, in which colour


def divergence() -> str:
    """The lanes that work at each step: where a warp's lanes disagree, and where they agree."""
    sides = [("a = f(x)", EVEN, "orange")] * 2 + [("b = g(x)", ODD, "purple")] * 2
    split: list[Step] = [("if (…)", ALL, "blue"), *sides, ("out = …", ALL, "blue")]
    whole: list[Step] = [
        ("if (…)", ALL, "blue"),
        *[("a = f(x)", ALL, "orange")] * 2,
        ("out = …", ALL, "blue"),
    ]
    title = "One warp at a branch: lanes from left to right, time downwards"
    below = "Filled: the lane executes. Empty: it waits while the others take their side."
    sheet = Sheet(WIDTH, 96 + ROW * len(split) + 16, title, below)
    heading(sheet, title, below)
    _panel(sheet, 16, "even and odd lanes part", split)
    _panel(sheet, 390, "all lanes agree", whole)
    return sheet.render()


def _panel(sheet: Sheet, x: float, name: str, steps: list[Step]) -> None:
    sheet.text(x, 78, f"{name}: {len(steps)} steps", size=13, bold=True)
    for row, (text, lanes, colour) in enumerate(steps):
        y = 90 + ROW * row
        for lane in range(WARP):
            works = lane in lanes
            sheet.rect(x + CELL * lane, y, CELL - 1.5, ROW - 5, colour if works else "empty", radius=1.5)
        sheet.text(x + CELL * WARP + 4, y + 14, text, "dim", size=11)


def paths() -> str:
    """What divergence costs, counted: instructions of warps as the lanes of a warp take more paths."""
    runs = {count: experiments.paths(count) for count in (1, 2, 4, 8, 16, 32)}
    one = runs[1][metrics.WARP_INSTRUCTIONS]
    found = []
    for count, run in runs.items():
        instructions = run[metrics.WARP_INSTRUCTIONS]
        name = "all lanes on one path" if count == 1 else f"{count} paths, {WARP // count} lanes on each"
        if count == WARP:
            name = f"{count} paths, a lane on each"
        found.append(pictures.Bar(name, instructions, f"× {units.digits(instructions / one)}"))
    return pictures.bars_for_pages("Instructions that the warps execute for the same arithmetic", found)


def reconvergence() -> str:
    """An if with two sides as basic blocks, with the lanes that execute each."""
    title = "Divergence and reconvergence of one warp"
    below = "The strip in each box has a cell for each lane; filled lanes execute the block."
    sheet = Sheet(WIDTH, 366, title, below)
    heading(sheet, title, below)
    _block(sheet, 230, 64, "if (lane % 2 == 0)", ALL, "blue")
    _block(sheet, 40, 160, "then: even lanes", EVEN, "orange")
    _block(sheet, 420, 160, "else: odd lanes", ODD, "purple")
    _block(sheet, 230, 272, "__syncwarp(): all lanes again", ALL, "blue")
    arrow(sheet, (330, 130), (220, 158))
    arrow(sheet, (430, 130), (540, 158))
    arrow(sheet, (220, 226), (330, 270))
    arrow(sheet, (540, 226), (430, 270))
    sheet.text(380, 196, "one side,", "dim", size=12, anchor="middle")
    sheet.text(380, 212, "then the", "dim", size=12, anchor="middle")
    sheet.text(380, 228, "other", "dim", size=12, anchor="middle")
    return sheet.render()


def _block(sheet: Sheet, x: float, y: float, text: str, lanes: tuple[int, ...], colour: str) -> None:
    sheet.rect(x, y, 300, 66, "empty", radius=6)
    sheet.text(x + 150, y + 24, text, size=13, anchor="middle")
    for lane in range(WARP):
        fill = colour if lane in lanes else "grid"
        sheet.rect(x + 14 + 8.5 * lane, y + 38, 7, 16, fill, radius=1)
