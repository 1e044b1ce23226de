"""One access of a warp: the banks of shared memory and who collides, the sectors of global memory it touches."""

from __future__ import annotations

from collections.abc import Sequence

from grader.analysis.access import (
    BANKS,
    LINE,
    SECTOR,
    WORD,
    Addresses,
    SharedAccess,
    global_access,
    shared_access,
)
from grader.report.pictures.svg import Sheet, heading
from grader.workbook import units

WIDTH, LEFT, TOP = 760.0, 96.0, 84.0
CELL = (WIDTH - LEFT - 16) / BANKS


def banks(addresses: Addresses, width: int = 4, *, store: bool = False, title: str = "") -> str:
    """The 32 banks of shared memory and the lanes they serve, a row for each wavefront of one warp's access.

    `addresses` are byte addresses in shared memory, one a lane, None for a lane that does not take part; `width` is
    bytes a lane. A bank that is asked for several words is red. Raises ValueError as `shared_access` does.
    """
    found = shared_access(addresses, width, store=store)
    height = 22.0 if len(found.wavefronts) <= 16 else 14.0
    kind = "store" if store else "load"
    title = title or f"One warp's {kind} of {width} bytes a lane in shared memory"
    sheet = Sheet(WIDTH, TOP + height * max(len(found.wavefronts), 1) + 22, title, _said(found))
    heading(sheet, title, _said(found))
    sheet.text(16, TOP - 8, "bank", "dim", size=11)
    crowded = _crowded(found)
    for bank in range(BANKS):
        colour = "red" if bank in crowded else "dim"
        sheet.text(LEFT + CELL * (bank + 0.5), TOP - 8, str(bank), colour, size=10, anchor="middle")
    for row, turn in enumerate(found.wavefronts):
        y = TOP + height * row
        sheet.text(16, y + height / 2 + 4, f"wavefront {row + 1}", "dim", size=11)
        sheet.rect(LEFT, y + 0.5, CELL * BANKS, height - 1, "empty")
        for bank in range(BANKS):
            x = LEFT + CELL * bank
            if bank in turn.words:
                colour = "red" if bank in crowded else "blue"
                tip = f"bank {bank}, word {turn.words[bank]}: lanes {_ranges(turn.lanes[bank])}"
                sheet.rect(x + 0.5, y + 0.5, CELL - 1, height - 1, colour, radius=2, tip=tip)
                label = _lanes(turn.lanes[bank])
                size = 10 if len(label) < 3 else 8.5
                sheet.text(x + CELL / 2, y + height / 2 + 3.5, label, "onto", size=size, anchor="middle")
    return sheet.render()


def _said(found: SharedAccess) -> str:
    turns = units.number_of(len(found.wavefronts), "wavefront")
    if not found.conflicts:
        return f"{turns}: no bank conflict. A number is the lane that is served, ×n so many lanes."
    return (
        f"{turns} where {found.groups} would do: {units.number_of(found.conflicts, 'bank conflict')}. "
        "A number is the lane that is served, ×n so many lanes."
    )


def _crowded(found: SharedAccess) -> set[int]:
    """Banks that make the access take more wavefronts: of those that serve most, where there are conflicts."""
    serves = {bank: sum(bank in turn.words for turn in found.wavefronts) for bank in range(BANKS)}
    return {bank for bank, times in serves.items() if found.conflicts and times > found.groups}


def _lanes(lanes: Sequence[int]) -> str:
    return str(lanes[0]) if len(lanes) == 1 else f"×{len(lanes)}"


def _ranges(lanes: Sequence[int]) -> str:
    """ "0–3, 8" of 0, 1, 2, 3, 8."""
    runs: list[list[int]] = []
    for lane in lanes:
        if runs and lane == runs[-1][1] + 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


def sectors(addresses: Addresses, width: int = 4, *, title: str = "") -> str:
    """The sectors of 32 bytes that one warp's access to global memory moves, a row for each line of 128 bytes.

    `addresses` are byte addresses, one a lane, None for a lane that does not take part; `width` is bytes a lane.
    What lanes asked for is blue, what comes along for nothing is grey. Raises ValueError as `global_access` does.
    """
    found = global_access(addresses, width)
    lines = sorted({sector * SECTOR // LINE for sector in found.lanes})
    height = 24.0 if len(lines) <= 12 else 13.0
    title = title or f"One warp's access of {width} bytes a lane to global memory"
    moved = SECTOR * found.sectors
    said = (
        f"{units.number_of(found.sectors, 'sector')}: {moved} bytes are moved, {found.bytes_used} of them asked "
        f"for ({units.percent(found.efficiency)} %)."
    )
    sheet = Sheet(WIDTH, TOP + height * max(len(lines), 1) + 30, title, said)
    heading(sheet, title, said)
    sheet.text(16, TOP - 8, "byte", "dim", size=11)
    owners: dict[int, list[int]] = {}  # word → the lanes that asked for it, or a part of it
    for lane, address in enumerate(addresses):
        if address is not None:
            for word in range(address // WORD, (address + width - 1) // WORD + 1):
                owners.setdefault(word, []).append(lane)
    for row, line in enumerate(lines):
        y = TOP + height * row
        sheet.text(LEFT - 8, y + height / 2 + 4, f"{line * LINE:,}", "dim", size=11, anchor="end")
        for word in range(LINE // WORD):
            _word(sheet, line * LINE // WORD + word, word, y, height, found.lanes, owners)
    _sector_legend(sheet, TOP + height * max(len(lines), 1) + 20)
    return sheet.render()


def _word(sheet: Sheet, word: int, place: int, y: float, height: float,
          fetched: dict[int, tuple[int, ...]], owners: dict[int, list[int]]) -> None:  # fmt: skip
    gap = 3 * (place // (SECTOR // WORD))  # between sectors
    x = LEFT + (CELL - 0.4) * place + gap
    if word in owners:
        sheet.rect(x, y + 0.5, CELL - 1.4, height - 1, "blue", tip=f"lanes {_ranges(owners[word])}")
        label = _lanes(owners[word])
        size = 10 if len(label) < 3 else 8.5
        sheet.text(x + CELL / 2 - 0.7, y + height / 2 + 3.5, label, "onto", size=size, anchor="middle")
    elif word * WORD // SECTOR in fetched:
        sheet.rect(x, y + 0.5, CELL - 1.4, height - 1, "dim", opacity=0.45, tip="moved for nothing")
    else:
        sheet.rect(x, y + 0.5, CELL - 1.4, height - 1, "empty")


def _sector_legend(sheet: Sheet, y: float) -> None:
    for x, colour, opacity, label in (
        (LEFT, "blue", 1.0, "asked for, by this lane"),
        (LEFT + 190, "dim", 0.45, "moved for nothing"),
        (LEFT + 340, "empty", 1.0, "not moved"),
    ):
        sheet.rect(x, y - 10, 12, 12, colour, opacity=opacity)
        sheet.text(x + 18, y, label, "dim", size=12)
