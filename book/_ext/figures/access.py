"""Coalescing and banks: what one instruction of a warp takes, by the addresses of its lanes."""

from __future__ import annotations

from figures.chart import Axis, Chart
from grader.analysis.access import BANKS, LANES, WORD, global_access, shared_access
from grader.report import pictures


def neighbours() -> str:
    """32 neighbouring floats: four sectors."""
    return pictures.sectors([WORD * lane for lane in range(LANES)], title="x[i]: neighbours read neighbours")


def shifted() -> str:
    """The same, one float further: five sectors."""
    return pictures.sectors([WORD * (lane + 1) for lane in range(LANES)], title="x[i + 1]: one float further")


def strided() -> str:
    """Every fourth float: sixteen sectors."""
    return pictures.sectors([4 * WORD * lane for lane in range(LANES)], title="x[4 * i]: every fourth float")


def strides() -> str:
    """Sectors that a warp's load touches, by the stride of its lanes."""
    return _by_stride(
        "Sectors of one load, by the stride between neighbouring lanes",
        "A warp wants 128 bytes, 4 sectors. From a stride of 8 floats on, each lane has a sector of its own.",
        "sectors",
        [global_access([stride * WORD * lane for lane in range(LANES)]).sectors for stride in range(1, 34)],
    )


def column() -> str:
    """A column of a 32 × 32 tile: all in one bank."""
    return pictures.banks(
        [WORD * BANKS * lane for lane in range(LANES)], title="tile[lane][0] of float tile[32][32]"
    )


def padded() -> str:
    """The same column where rows have 33 words."""
    return pictures.banks(
        [WORD * (BANKS + 1) * lane for lane in range(LANES)], title="tile[lane][0] of float tile[32][33]"
    )


def bank_strides() -> str:
    """Wavefronts of a load from shared memory, by the stride of its lanes."""
    found = [
        len(shared_access([stride * WORD * lane for lane in range(LANES)]).wavefronts)
        for stride in range(1, 34)
    ]
    return _by_stride(
        "Wavefronts of one load from shared memory, by the stride between neighbouring lanes",
        "Odd strides need one. Others need the greatest common divisor of the stride and 32.",
        "wavefronts",
        found,
    )


def _by_stride(title: str, below: str, what: str, found: list[int]) -> str:
    marks = [(mark, str(mark)) for mark in (1, 4, 8, 12, 16, 20, 24, 28, 32)]
    chart = Chart(
        title,
        below,
        Axis("stride, floats", 0, len(found) + 1, marks),
        Axis(what, 0, 34, [(mark, str(mark)) for mark in (0, 4, 8, 16, 32)]),
        height=320,
    )
    for stride, count in enumerate(found, start=1):
        colour = "blue" if count == min(found) else "orange"
        chart.bar(stride, count, 12, colour, f"stride {stride}: {count} {what}")
    return chart.render()
