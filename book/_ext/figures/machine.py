"""The machine: the whole GPU, one SM, how threads are numbered and how blocks are handed out."""

from __future__ import annotations

from figures.chart import arrow, block
from grader.analysis.devices import named
from grader.analysis.occupancy import QUARTERS, REGISTERS, WARP
from grader.report.pictures.svg import SERIES, Sheet, heading
from grader.workbook import units

WIDTH = 760.0
BOARD = named("H200")
SM = BOARD.capability


def gpu() -> str:
    """An H200 with its SMs, its L2 cache, its DRAM and the link to the host."""
    title = f"{BOARD.name}: {BOARD.sms} SMs, one L2 cache, one memory"
    below = (
        "Each small square is an SM. All of them reach DRAM through the L2 cache; the host is behind a link."
    )
    sheet = Sheet(WIDTH, 382, title, below)
    heading(sheet, title, below)
    _box(sheet, 16, 150, 130, 120, "host", ["CPU, main memory"])
    sheet.rect(246, 64, 498, 304, "none", outline="dim", radius=8)
    columns, side, gap = 22, 17.0, 4.4
    for number in range(BOARD.sms):
        x = 262 + number % columns * (side + gap)
        y = 80 + number // columns * (side + gap)
        sheet.rect(x, y, side, side, "blue", radius=2)
    block(sheet, 262, 236, 466, 44, "green", f"L2 cache, {BOARD.l2_bytes >> 20} MiB")
    block(sheet, 262, 308, 466, 44, "orange", "device memory (DRAM): global memory lies here")
    for x in (380, 610):
        arrow(sheet, (x, 210), (x, 234))
        arrow(sheet, (x, 282), (x, 306))
    sheet.text(495, 226, f"{units.rate(BOARD.l2_rate, 'B/s')}", "dim", size=12, anchor="middle")
    sheet.text(495, 299, f"{units.rate(BOARD.dram_read, 'B/s')}", "dim", size=12, anchor="middle")
    arrow(sheet, (148, 210), (244, 210))
    sheet.text(196, 202, units.rate(BOARD.link.copy_in, "B/s"), "dim", size=12, anchor="middle")
    sheet.text(196, 228, "each way", "dim", size=12, anchor="middle")
    return sheet.render()


def sm() -> str:
    """One SM: four quarters with a scheduler each, and the memory that they share."""
    title = "One streaming multiprocessor (SM)"
    below = (
        f"{QUARTERS} schedulers issue up to {QUARTERS} warp instructions a clock; up to {SM.warps} warps "
        f"({SM.warps * WARP:,} threads) are resident, of up to {SM.blocks} blocks."
    )
    sheet = Sheet(WIDTH, 316, title, below)
    heading(sheet, title, below)
    for quarter in range(QUARTERS):
        x = 16 + 184 * quarter
        sheet.rect(x, 64, 176, 168, "none", outline="dim", radius=6)
        block(sheet, x + 10, 74, 156, 28, "purple", "warp scheduler")
        registers = REGISTERS // QUARTERS
        block(sheet, x + 10, 110, 156, 40, "blue", f"{registers:,} registers")
        block(sheet, x + 10, 158, 96, 64, "green", f"{SM.fma_lanes // QUARTERS} FP32")
        block(sheet, x + 112, 158, 54, 64, "red", "Tensor")
    shared = f"up to {SM.shared_bytes >> 10} KiB shared, 32 banks, 128 bytes a clock"
    block(sheet, 16, 246, 728, 52, "orange", f"L1 cache and shared memory: {shared}")
    return sheet.render()


def numbering() -> str:
    """Which warp each thread of a block of 20 × 6 is in."""
    columns, rows = 20, 6
    warps = -(-columns * rows // WARP)
    title = f"A block of {columns} × {rows} threads is {warps} warps"
    below = "Threads are numbered with x fastest, and cut into warps of 32. A row is not a warp."
    sheet = Sheet(WIDTH, 300, title, below)
    heading(sheet, title, below)
    for number in range(columns * rows):
        x, y = 64 + 34 * (number % columns), 84 + 28 * (number // columns)
        colour = SERIES[number // WARP]
        sheet.rect(x, y, 32, 26, colour, radius=3, tip=f"thread {number}: lane {number % WARP}")
        sheet.text(x + 16, y + 17, str(number), "onto", size=11, anchor="middle")
    for row in range(rows):
        sheet.text(56, 84 + 28 * row + 17, f"y = {row}", "dim", size=12, anchor="end")
    sheet.text(64, 76, "x = 0", "dim", size=12)
    for warp in range(warps):
        threads = min(WARP, columns * rows - WARP * warp)
        sheet.rect(64 + 150 * warp, 268, 12, 12, SERIES[warp])
        sheet.text(82 + 150 * warp, 278, f"warp {warp}: {threads} threads", "dim", size=12)
    return sheet.render()


def waves() -> str:
    """How 19 blocks run on four SMs that hold two blocks each."""
    sms, resident, blocks = 4, 2, 19
    slots = sms * resident
    turns = -(-blocks // slots)
    title = f"{blocks} blocks on {sms} SMs that hold {resident} blocks each"
    last = blocks - (turns - 1) * slots
    below = f"{slots} blocks run at a time: {turns} waves, of which the last has {last} blocks. Time runs to the right."
    sheet = Sheet(WIDTH, 64 + 30 * slots + 30, title, below)
    heading(sheet, title, below)
    width = (WIDTH - 100) / turns
    for slot in range(slots):
        y = 64 + 30 * slot
        if slot % resident == 0:
            sheet.text(16, y + 32, f"SM {slot // resident}", "dim", size=12)
        for wave in range(turns):
            block = wave * slots + slot % resident * sms + slot // resident
            x = 76 + wave * width
            if block < blocks:
                sheet.rect(x, y, width - 4, 26, SERIES[wave], radius=3)
                sheet.text(x + width / 2, y + 18, f"block {block}", "onto", size=12, anchor="middle")
            else:
                sheet.rect(x, y, width - 4, 26, "empty", radius=3)
                sheet.text(x + width / 2, y + 18, "idle", "dim", size=12, anchor="middle")
    return sheet.render()


def _box(sheet: Sheet, x: float, y: float, width: float, height: float, name: str, lines: list[str]) -> None:
    sheet.rect(x, y, width, height, "empty", radius=6)
    sheet.text(x + width / 2, y + height / 2 - 4, name, bold=True, anchor="middle")
    for number, line in enumerate(lines):
        sheet.text(x + width / 2, y + height / 2 + 14 + 16 * number, line, "dim", size=12, anchor="middle")
