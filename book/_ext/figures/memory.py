"""The memory hierarchy: who sees what, how far away it is, how large and how fast."""

from __future__ import annotations

from figures.chart import block
from grader.analysis.devices import named
from grader.analysis.occupancy import REGISTERS
from grader.analysis.roofline import roofs
from grader.report import pictures
from grader.report.pictures.svg import Sheet, heading
from grader.workbook import units

WIDTH = 760.0
BOARD = named("H200")
MIB = 2**20


def scopes() -> str:
    """Boxes within boxes: a thread's registers, a block's shared memory, the grid's global memory."""
    title = "Which threads see which memory"
    below = "A box sees what stands in it and what stands around it."
    sheet = Sheet(WIDTH, 340, title, below)
    heading(sheet, title, below)
    sheet.rect(16, 62, 728, 262, "none", outline="dim", radius=8)
    sheet.text(30, 84, "grid", bold=True)
    for number in range(2):
        x = 30 + 356 * number
        sheet.rect(x, 94, 342, 152, "empty", radius=8)
        sheet.text(x + 12, 114, f"block {number}", bold=True)
        for thread in range(3):
            left = x + 12 + 108 * thread
            sheet.rect(left, 122, 100, 72, "ground", radius=5)
            sheet.text(left + 50, 140, f"thread {thread}", size=12, anchor="middle")
            block(sheet, left + 6, 148, 88, 18, "blue", "registers")
            block(sheet, left + 6, 170, 88, 18, "red", "local")
        block(sheet, x + 12, 204, 318, 30, "green", "shared memory")
    block(sheet, 30, 258, 700, 26, "orange", "global memory: what cudaMalloc gives")
    block(sheet, 30, 290, 700, 26, "purple", "constant memory: written by the host, read by all")
    return sheet.render()


def latencies() -> str:
    """Clocks until one load is answered, by the level that has the data."""
    levels = {"L1 cache": BOARD.l1_latency, "L2 cache": BOARD.l2_latency, "DRAM": BOARD.dram_latency}
    found = [
        pictures.Bar(name, clocks, f"{clocks:.0f}", colour)
        for (name, clocks), colour in zip(levels.items(), ("blue", "green", "orange"), strict=True)
    ]
    return pictures.bars_for_pages(f"Clocks until a load is answered, {BOARD.name} otherwise idle", found)


def sizes() -> str:
    """The memories on the chip, all SMs together, as bars."""
    each = {
        "registers": (BOARD.sms * REGISTERS * 4, "blue"),
        "shared memory": (BOARD.sms * BOARD.capability.shared_bytes, "green"),
        "L2 cache": (BOARD.l2_bytes, "orange"),
    }
    shown = [
        pictures.Bar(name, size, f"{units.digits(size / MIB)} MiB", colour)
        for name, (size, colour) in each.items()
    ]
    return pictures.bars_for_pages(f"What the chip of an {BOARD.name} holds", shown)


def rates() -> str:
    """Bytes a second at each level."""
    found = roofs(BOARD)
    levels = {
        "shared memory and L1, all SMs together": (found.shared, "blue"),
        "L2 cache": (found.l2, "green"),
        "DRAM, reading": (found.dram, "orange"),
        "link to the host, one way": (BOARD.link.copy_in, "red"),
    }
    shown = [
        pictures.Bar(name, rate, units.rate(rate, "B/s"), colour) for name, (rate, colour) in levels.items()
    ]
    return pictures.bars_for_pages(f"Bytes a second that each level supplies, {BOARD.name}", shown)
