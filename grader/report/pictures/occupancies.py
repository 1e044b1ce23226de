"""Occupancy as one resource of a block varies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from grader.analysis.devices import DeviceSpec
from grader.analysis.occupancy import Occupancy
from grader.analysis.occupancy import occupancy as occupancy_of
from grader.report.pictures.svg import Sheet, heading
from grader.workbook import units

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760.0, 360.0, 64.0, 24.0, 64.0, 84.0

By = Literal["threads", "registers", "shared"]

COLOURS = {
    "warps": "green",
    "registers": "blue",
    "shared memory": "orange",
    "blocks": "purple",
    "block size": "red",
}
AXES = {
    "threads": "threads a block",
    "registers": "registers a thread",
    "shared": "shared memory a block, KiB",
}


def occupancy(
    device: DeviceSpec, by: By = "threads", *, threads: int = 256, registers: int = 32, shared_bytes: int = 0
) -> str:
    """Resident warps of an SM as one of a block's resources grows and the others stay; coloured by what limits them.

    `by` says which grows; the point is the block given. `shared_bytes` is static and dynamic, without what CUDA keeps.
    """
    sm = device.capability
    given = {"threads": threads, "registers": registers, "shared": shared_bytes}
    most = {"threads": 1024, "registers": 255, "shared": sm.shared_block_bytes}[by]
    first, step = {"threads": (32, 32), "registers": (1, 1), "shared": (0, 512)}[by]
    values = sorted({*range(first, most + 1, step), most})

    def at(value: int) -> Occupancy:
        block = {**given, by: value}
        return occupancy_of(sm, block["threads"], block["registers"], block["shared"])

    def place(value: float, warps: float) -> tuple[float, float]:
        x = LEFT + value / most * (WIDTH - LEFT - RIGHT)
        return x, HEIGHT - BOTTOM - warps / sm.warps * (HEIGHT - TOP - BOTTOM)

    here = at(given[by])
    sheet = Sheet(WIDTH, HEIGHT, _title(device, by, given), _description(device, here))
    heading(sheet, _title(device, by, given), _description(device, here))
    _axes(sheet, by, most, sm.warps)
    seen: list[str] = []
    last: Occupancy | None = None
    for first, end, found in _steps([(value, at(value)) for value in values], step):
        seen += [found.limited_by] if found.limited_by not in seen else []
        if last is not None and last.warps_per_sm != found.warps_per_sm:
            sheet.line([place(first, last.warps_per_sm), place(first, found.warps_per_sm)], "grid", 1.5)
        ends = [place(first, found.warps_per_sm), place(end, found.warps_per_sm)]
        sheet.line(ends, COLOURS[found.limited_by], 3)
        last = found
    sheet.circle(*place(min(given[by], most), here.warps_per_sm), 6, "ink", hollow=True)
    _legend(sheet, seen)
    return sheet.render()


def _steps(values: Sequence[tuple[int, Occupancy]], step: int) -> Iterator[tuple[int, int, Occupancy]]:
    """From where to where which occupancy holds. Between two values a block is rounded up to the second."""
    first = max(values[0][0] - step, 0)
    for (value, found), (_, following) in zip(values, [*values[1:], (0, None)], strict=True):
        same = following is not None and following.limited_by == found.limited_by
        if not same or following is None or following.warps_per_sm != found.warps_per_sm:
            yield first, value, found
            first = value


def _title(device: DeviceSpec, by: By, given: dict[str, int]) -> str:
    rest = {
        "threads": f"{given['threads']} threads",
        "registers": f"{given['registers']} registers",
        "shared": f"{units.kib(given['shared'])} of shared memory",
    }
    return f"{device.name}: occupancy by {AXES[by]}; {', '.join(v for k, v in rest.items() if k != by)}"


def _description(device: DeviceSpec, here: Occupancy) -> str:
    return (
        f"The ring: {units.number_of(here.blocks_per_sm, 'block')} of {here.warps_per_sm} warps in all on an SM, "
        f"{units.percent(here.fraction)} % of {device.capability.warps}, limited by {here.limited_by}."
    )


def _axes(sheet: Sheet, by: By, most: int, warps: int) -> None:
    for quarter in range(5):
        y = HEIGHT - BOTTOM - quarter / 4 * (HEIGHT - TOP - BOTTOM)
        sheet.line([(LEFT, y), (WIDTH - RIGHT, y)], "grid", 1)
        sheet.text(LEFT - 8, y + 4, f"{25 * quarter} %", "dim", size=12, anchor="end")
    step = {"threads": 128, "registers": 32, "shared": 32 * 1024 if most > 128 * 1024 else 16 * 1024}[by]
    for value in range(0, most + 1, step):
        x = LEFT + value / most * (WIDTH - LEFT - RIGHT)
        label = str(value // 1024 if by == "shared" else value)
        sheet.text(x, HEIGHT - BOTTOM + 18, label, "dim", size=12, anchor="middle")
    middle = (LEFT + WIDTH - RIGHT) / 2
    sheet.text(middle, HEIGHT - BOTTOM + 38, AXES[by], "dim", size=12, anchor="middle")


def _legend(sheet: Sheet, limits: list[str]) -> None:
    x = LEFT
    for limit in limits:
        sheet.line([(x, HEIGHT - 20), (x + 22, HEIGHT - 20)], COLOURS[limit], 3)
        sheet.text(x + 28, HEIGHT - 16, f"limited by {limit}", "dim", size=12)
        x += 56 + 7.0 * len(f"limited by {limit}")
