"""The roofs of a ladder: every rung of a climb placed under those of a device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader.analysis.devices import DeviceSpec, board
from grader.analysis.intensity import Ratio, ratio
from grader.analysis.roofline import LEVELS, NAMES, UNITS, Growth, Placed, Unit, place, roofs
from grader.results import Climb, Device, RungResult
from grader.workbook import topics, units

OTHER_KERNEL = "‡"
OTHER_KERNEL_SAID = (
    f"{OTHER_KERNEL} where it was counted, it launches another kernel, which may compute and load more than the one "
    "timed."
)


def spec_of(device: Device) -> DeviceSpec:
    """What is known of the device of a result. Raises WarpladderError where nothing is."""
    return board(device.name, device.arch)


def device_of(result: Climb) -> DeviceSpec:
    """What is known of the device that a climb's times are of."""
    return spec_of(result.device)


def placed(result: Climb) -> list[Placed]:
    """The rungs that have a time and counters, under the roofs of the climb's device.

    Counters are of smaller sizes than times. They are scaled: bytes of DRAM, and what is stored, as the bytes grow that
    any algorithm has to move, everything else as the operations grow. Raises WarpladderError for a topic that is not
    known.
    """
    growth = _growth(result)
    device = device_of(result)
    found = (place(device, rung, growth) for rung in result.rungs if rung.verdict == "pass")
    return [item for item in found if item is not None]


def name_of(rung: Placed) -> str:
    """A rung's name, with a mark where another kernel was counted."""
    return f"{rung.rung} {OTHER_KERNEL}" if rung.other_kernel else rung.rung


def _growth(result: Climb) -> Growth:
    if result.counted is None or result.counted == result.problem:
        return Growth()
    reference = topics.load(result.topic).reference
    moved = reference.min_bytes(result.problem) / reference.min_bytes(result.counted)
    computed = reference.min_flop(result.counted)
    return Growth(reference.min_flop(result.problem) / computed if computed else moved, moved)


# ---- in a terminal -----------------------------------------------------------------------------------------


def view(result: Climb) -> RenderableType:
    """A line a rung: its rate, its compute-to-memory ratio, and the roof it comes nearest to."""
    rungs = placed(result)
    spec = device_of(result)
    head = Text.assemble(
        (f"Roofline of {result.topic}", "bold"),
        f"   {units.problem(result.problem)}   on {result.device.name}",
    )
    if not rungs:
        return Group(head, Text("No version was both timed and counted.", "dim"))
    computes = any(rung.work.flop for rung in rungs)
    table = _ratios(result, rungs) if computes else _rates(rungs)
    return Group(head, "", table, "", *_roofs(spec, computes, rungs), *_footnotes(result, rungs, computes))


def ratio_of(rung: RungResult) -> Ratio:
    """A rung's compute-to-memory ratio at the sizes that were counted."""
    return ratio(rung.counters or {}, rung.flop or 0, rung.dram_bytes)


def _table(columns: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("rung", no_wrap=True, overflow="ellipsis", max_width=22)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _nearest(rung: Placed) -> tuple[str, str]:
    return NAMES[rung.limited_by], f"{units.percent(rung.share)}{'*' if rung.overcounted else ''}"


def _ratios(result: Climb, rungs: Sequence[Placed]) -> Table:
    table = _table(("time", "FLOP/s", "DRAM", "L1", "instr", "roof", "%"))
    found = {rung.id: ratio_of(rung) for rung in result.rungs}
    for rung in rungs:
        table.add_row(
            name_of(rung),
            units.seconds(rung.time_s, rung.time_source),
            units.count(rung.flop_rate),
            units.ratio(rung.intensity("dram")),
            units.ratio(found[rung.rung].l1),
            units.ratio(found[rung.rung].instruction),
            *_nearest(rung),
        )
    return table


def _rates(rungs: Sequence[Placed]) -> Table:
    table = _table(("time", *(NAMES[level] for level in LEVELS), "roof", "%"))
    for rung in rungs:
        rates = (
            units.rate(rung.rate(level), "B/s") if rung.rate(level) else units.NOTHING for level in LEVELS
        )
        time = units.seconds(rung.time_s, rung.time_source)
        table.add_row(name_of(rung), time, *rates, *_nearest(rung))
    return table


def _roofs(spec: DeviceSpec, computes: bool, rungs: Sequence[Placed]) -> Iterable[Text]:
    """The roofs and, where something is computed, their ridges."""
    ceiling = roofs(spec)
    memory = ", ".join(f"{NAMES[level]} {units.rate(getattr(ceiling, level), 'B/s')}" for level in LEVELS)
    if not computes:
        yield Text.assemble(("Roofs: ", "bold"), memory, ".")
        return
    used: list[Unit] = [unit for unit in UNITS if unit == "fma" or any(r.work.tensor_flop for r in rungs)]
    peaks = ", ".join(f"{NAMES[unit]} {units.rate(getattr(ceiling, unit), 'FLOP/s')}" for unit in used)
    yield Text.assemble(("Roofs: ", "bold"), f"{peaks}; {memory}.")
    for unit in used:
        points = ", ".join(f"{NAMES[level]} {units.digits(ceiling.ridge(level, unit))}" for level in LEVELS)
        yield Text.assemble(
            (f"Ridges of {NAMES[unit]}: ", "bold"), f"{points} FLOP a byte; below, that memory limits."
        )


def _footnotes(result: Climb, rungs: Sequence[Placed], computes: bool) -> Iterable[Text]:
    if computes:
        yield Text(
            "DRAM: FLOP a byte of DRAM, where each byte counts once, however often L2 serves it. L1: FLOP a byte of "
            "global loads through L1, which is what tiles raise. instr: arithmetic instructions of a warp for each "
            "load that feeds them. roof: the part of the device that is busy longest, % how much of the time.",
            "dim",
        )
    else:
        yield Text("roof: the part of the device that is busy longest, % how much of the time.", "dim")
    if any(rung.overcounted for rung in rungs):
        yield Text(
            "*: more was counted than the roof lets through. Counts are PTX's, and ptxas merges loads.", "dim"
        )
    if any(rung.other_kernel for rung in rungs):
        yield Text(OTHER_KERNEL_SAID, "dim")
    if result.counted is not None and result.counted != result.problem:
        yield Text(f"Counted at {units.problem(result.counted)}, and scaled to the sizes above.", "dim")
    if any(rung.time_source == "modelled" for rung in rungs):
        yield Text("≈ modelled, not measured.", "dim")
