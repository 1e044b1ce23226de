"""The roofline, and the compute-to-memory ratio of a register tile."""

from __future__ import annotations

from figures.chart import Axis, Chart, arrow
from grader.analysis.devices import named
from grader.analysis.occupancy import MAX_REGISTERS
from grader.analysis.roofline import NAMES, roofs
from grader.report.pictures.svg import Sheet, heading
from grader.workbook import units

WIDTH = 760.0
BOARD = named("H200")
GEMM = 4096  # rows and columns of the product
JOBS = {  # FLOP for each byte that any version has to move
    "sum of an array": 1 / 4,
    "x = a * x + y": 2 / 12,
    f"matrix product, {GEMM}": GEMM / 6,
}


def roof() -> str:
    """The roofs of an H200, and where problems stand under them."""
    found, tera = roofs(BOARD), 1e12
    ridge = found.ridge("dram")
    title = f"The roofline of an {BOARD.name}"
    below = (
        f"Left of {units.digits(ridge)} FLOP a byte DRAM is the limit, right of it the FP32 units are. "
        "Both axes are logarithmic."
    )
    low, high = 0.06, 2000.0
    chart = Chart(
        title,
        below,
        Axis("FLOP for each byte", low, high, [(m, str(m)) for m in (0.1, 1, 10, 100, 1000)], log=True),
        Axis("TFLOP/s", 0.2, 120, [(m, str(m)) for m in (1, 10, 100)], log=True),
    )
    fma = found.fma / tera
    levels = (("shared", "purple", True, 2.4), ("l2", "green", True, 1.4), ("dram", "blue", False, 0.8))
    for level, colour, dashed, row in levels:
        rate = getattr(found, level) / tera
        start = max(low, 0.2 / rate)
        chart.line([(start, start * rate), (fma / rate, fma)], colour, dashed=dashed)
        chart.line([(36, row), (60, row)], colour, dashed=dashed)
        chart.label(70, row, f"{NAMES[level]}, {units.rate(rate * tera, 'B/s')}", colour, dy=4)
    chart.line([(fma / (found.shared / tera), fma), (high, fma)], "ink")
    chart.label(high, fma, f"FP32 multiply-adds, {units.rate(found.fma, 'FLOP/s')}", anchor="end", dy=-8)
    chart.line([(ridge, 0.2), (ridge, fma)], "dim", dashed=True)
    chart.label(ridge, 0.26, f"ridge: {units.digits(ridge)}", "dim", dx=6)
    for name, intensity in JOBS.items():
        height = min(fma, intensity * found.dram / tera)
        chart.point(intensity, height, "red", f"{name}: {units.digits(intensity)} FLOP a byte")
        right = intensity < ridge
        chart.label(intensity, height, name, "red", anchor="start" if right else "middle",
                    dx=9 if right else 0, dy=5 if right else 22)  # fmt: skip
    return chart.render()


def tile() -> str:
    """One output a thread and 4 × 4: what is loaded for one step, and what is computed of it."""
    title = "One step of a matrix product, in one thread"
    below = "Loaded from shared memory: blue and green. Multiply-adds: orange, one a cell."
    sheet = Sheet(WIDTH, 250, title, below)
    heading(sheet, title, below)
    _tile(sheet, 60, 1)
    _tile(sheet, 390, 4)
    return sheet.render()


def _tile(sheet: Sheet, x: float, side: int) -> None:
    cell, top = 30.0, 112.0
    for i in range(side):
        sheet.rect(x, top + cell * i, cell - 3, cell - 3, "blue", radius=3)
        sheet.text(x + 13, top + cell * i + 18, f"a{i}", "onto", size=12, anchor="middle")
        sheet.rect(x + cell * (i + 1) + 8, top - cell - 5, cell - 3, cell - 3, "green", radius=3)
        sheet.text(x + cell * (i + 1) + 21, top - cell + 13, f"b{i}", "onto", size=12, anchor="middle")
        for j in range(side):
            sheet.rect(x + cell * (j + 1) + 8, top + cell * i, cell - 3, cell - 3, "orange", radius=3)
    said = f"{side * side} multiply-adds" if side > 1 else "1 multiply-add"
    right = x + cell * (side + 1) + 24
    arrow(sheet, (right - 6, top + cell * side / 2), (right + 14, top + cell * side / 2))
    sheet.text(right + 20, top + cell * side / 2 - 4, f"{2 * side} loads, {said}:", size=13)
    sheet.text(right + 20, top + cell * side / 2 + 14, f"{units.digits(side / 2)} a load", size=13, bold=True)


def ratio() -> str:
    """Multiply-adds for each load, and registers, as the tile of a thread grows."""
    sides = range(1, 17)
    title = "A tile of T × T outputs a thread: what it saves and what it costs"
    below = (
        f"T² sums and 2T operands have to fit the {MAX_REGISTERS} registers of a thread, "
        "with addresses and counters beside them."
    )
    chart = Chart(
        title,
        below,
        Axis("T", 0.5, 16.5, [(side, str(side)) for side in (1, 2, 4, 6, 8, 10, 12, 14, 16)]),
        Axis("registers for sums and operands", 0, 320, [(mark, str(mark)) for mark in range(0, 301, 50)]),
    )
    chart.line([(0.5, MAX_REGISTERS), (16.5, MAX_REGISTERS)], "red", dashed=True)
    chart.label(1, MAX_REGISTERS, f"{MAX_REGISTERS} registers, the most", "red", dy=-6)
    for side in sides:
        taken = side * side + 2 * side
        chart.bar(side, taken, 24, "blue" if taken <= MAX_REGISTERS else "red", f"{taken} registers")
        if side in (2, 4, 8, 12, 16):
            chart.label(side, taken, f"{units.digits(side / 2)} a load", dy=-6, anchor="middle")
    return chart.render()
