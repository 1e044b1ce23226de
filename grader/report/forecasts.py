"""The time model in a terminal: its error against records, and what a ladder would take on another device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader.analysis import verification
from grader.analysis.devices import DeviceSpec
from grader.analysis.roofline import NAMES
from grader.analysis.verification import Pair
from grader.analysis.what_if import Modelled, WhatIf
from grader.results import Climb
from grader.workbook import units

LIMITS = {**NAMES, "l1": NAMES["shared"]}
"""What the terms of the time model are called where rooflines call them something."""


def _table(columns: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("rung", no_wrap=True, overflow="ellipsis", max_width=24)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def error(record: Climb, items: Sequence[Pair]) -> RenderableType:
    """One record: each rung measured and modelled, and how well the model knows their order."""
    head = Text.assemble(
        (record.topic, "bold"), f"   {units.problem(record.problem)}   on {record.device.name}"
    )
    table = _table(("measured", "modelled", "×"))
    for item in items:
        style = "yellow" if item.factor > 2 else None
        table.add_row(
            item.rung,
            units.seconds(item.measured_s),
            units.seconds(item.modelled_s, "modelled"),
            f"{item.ratio:.2f}",
            style=style,
        )
    found = verification.error(items)
    if found is None:
        return Group(head, Text("No rung is both measured and modelled.", "dim"))
    said = f"off by a factor of {found.median:.2f} (median), {found.worst:.2f} (worst); "
    return Group(head, table, Text(f"{said}order: Kendall's τ {verification.order(items):.2f}"))


def own(name: str, found: Modelled) -> RenderableType:
    """A learner's own file beside a record's rungs: modelled, and measured nowhere."""
    if found.seconds is None:
        return Text.assemble((f"{name}: ", "bold"), f"no modelled time: {found.reason}")
    return Text.assemble(
        (f"{name}: ", "bold"), f"{units.seconds(found.seconds, 'modelled')} modelled, not measured"
    )


def errors(items: Sequence[Pair], records: int) -> RenderableType:
    """All records together."""
    found = verification.error(items)
    if found is None:
        return Text("Nothing was compared.")
    return Text.assemble(
        (
            f"{units.number_of(records, 'record')}, {units.number_of(found.rungs, 'rung')}: off by a factor of "
            f"{found.median:.2f} (median), {found.worst:.2f} (worst).",
            "bold",
        ),
        " × is modelled over measured. The model has no parameter of a kernel or a topic, so none of them was fitted.",
    )


def what_if(record: Climb, device: DeviceSpec, rungs: Sequence[WhatIf]) -> RenderableType:
    """A record's rungs on another device, extrapolated."""
    head = Text.assemble(
        (f"{record.topic} on {device.name}, extrapolated", "bold"), f"   {units.problem(record.problem)}"
    )
    here, there = _short(record.device.name), _short(device.name)
    table = _table((here, f"model {here}", f"model {there}", there, f"×{here}", "limit"))
    for rung in rungs:
        value = rung.extrapolated_s
        times = None if value is None or rung.measured_s is None else rung.measured_s / value
        table.add_row(
            rung.rung,
            units.seconds(rung.measured_s),
            units.seconds(rung.modelled_s, "modelled"),
            units.seconds(rung.elsewhere_s, "modelled"),
            "does not run" if value is None else f"~{units.seconds(value)}",
            units.ratio(times),
            LIMITS.get(rung.limited_by or "", rung.limited_by or units.NOTHING),
            style="dim" if value is None else None,
        )
    return Group(head, table, *_notes(record, device, rungs))


def _short(name: str) -> str:
    """ "NVIDIA GeForce RTX 4090" → "4090"."""
    return name.split(" (")[0].split()[-1].split("-")[0]


def _notes(record: Climb, device: DeviceSpec, rungs: Sequence[WhatIf]) -> Iterable[Text]:
    yield Text(
        f"~ extrapolated: the time measured on {record.device.name}, scaled as the time model scales from it to "
        f"{device.name}. Nothing was measured on {device.name}"
        + ("." if device.measured else ", nor were the model's parameters of it."),
        "dim",
    )
    for reason in dict.fromkeys(rung.reason for rung in rungs if rung.reason):
        names = ", ".join(rung.rung for rung in rungs if rung.reason == reason)
        yield Text.assemble((f"{names}: ", "bold"), reason.splitlines()[0])
