"""Occupancy in a terminal: what fits on a SM, what limits it, and the next step up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader.analysis.devices import DeviceSpec
from grader.analysis.occupancy import NextStep, next_step, occupancy
from grader.workbook import units


@dataclass(frozen=True)
class Block:
    """A block of a kernel, as it takes room on a SM."""

    threads: int
    registers: int  # a thread
    shared_bytes: int  # static and dynamic, without what CUDA reserves

    def __str__(self) -> str:
        shared = (
            f"{units.kib(self.shared_bytes)} of shared memory" if self.shared_bytes else "no shared memory"
        )
        return f"{self.threads} threads, {self.registers} registers a thread, {shared}"


def table(rows: Sequence[tuple[DeviceSpec, Block]], changing: bool) -> RenderableType:
    """A line a device; `changing` says that registers or shared memory differ from line to line, and shows them."""
    shown = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    shown.add_column("device", no_wrap=True)
    for column in ("regs", "smem") if changing else ():
        shown.add_column(column, justify="right", no_wrap=True)
    for column in ("blocks", "warps", "occ%"):
        shown.add_column(column, justify="right", no_wrap=True)
    shown.add_column("limit", no_wrap=True)
    shown.add_column("next step", overflow="fold")
    for spec, block in rows:
        found = occupancy(spec, block.threads, block.registers, block.shared_bytes)
        own = (str(block.registers), units.kib(block.shared_bytes)) if changing else ()
        step = next_step(spec, block.threads, block.registers, block.shared_bytes)
        shown.add_row(
            spec.name.removeprefix("NVIDIA ").removeprefix("GeForce "),
            *own,
            str(found.blocks_per_sm),
            f"{found.warps_per_sm}/{spec.capability.warps}",
            units.percent(found.fraction),
            found.limited_by.replace("shared memory", "shared"),
            _short(step),
            style=None if found.blocks_per_sm else "red",
        )
    return shown


def _short(step: NextStep | None) -> str:
    """ "≤ 40 registers: 6, 75 %"."""
    if step is None:
        return units.NOTHING
    return f"{_change(step)}: {step.blocks_per_sm}, {units.percent(step.fraction)} %"


def _change(step: NextStep) -> str:
    parts = []
    if step.threads is not None:
        parts.append(f"{step.threads} threads")
    if step.registers is not None:
        parts.append(f"≤ {step.registers} registers")
    if step.shared_bytes is not None:
        parts.append(f"≤ {units.kib(step.shared_bytes)} shared")
    return ", ".join(parts)


def one(spec: DeviceSpec, block: Block) -> RenderableType:
    """One device in full: what each limit alone would admit, and the next step in words."""
    found = occupancy(spec, block.threads, block.registers, block.shared_bytes)
    head = Text.assemble((spec.name, "bold"), f"   {block}")
    result = Text.assemble(
        (f"{units.percent(found.fraction)} %", "bold green" if found.blocks_per_sm else "bold red"),
        f" occupancy: {units.number_of(found.blocks_per_sm, 'block')} an SM, {found.warps_per_sm} of its "
        f"{spec.capability.warps} warps; limited by {found.limited_by}.",
    )
    limits = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    limits.add_column(no_wrap=True)
    limits.add_column(justify="right", no_wrap=True)
    for limit, blocks in found.fits.items():
        style = "bold" if limit == found.limited_by else None
        name = "the limit of blocks" if limit == "blocks" else limit
        limits.add_row(f"  {name} alone would admit", units.number_of(blocks, "block"), style=style)
    return Group(head, result, limits, Text(advice(spec, block)))


def advice(spec: DeviceSpec, block: Block) -> str:
    """The next step in a sentence: "At 40 registers or fewer a sixth block would fit: 75 % occupancy."."""
    found = occupancy(spec, block.threads, block.registers, block.shared_bytes)
    step = next_step(spec, block.threads, block.registers, block.shared_bytes)
    if step is None:
        full = found.warps_per_sm == spec.capability.warps
        return "The SM is full." if full else "Nothing short of another kernel puts more warps on the SM."
    then = f"{units.percent(step.fraction)} % occupancy"
    if step.threads is not None:
        return f"With {step.threads} threads a block, {units.number_of(step.blocks_per_sm, 'block')} would fit: {then}."
    needs = []
    if step.registers is not None:
        needs.append(f"{step.registers} registers a thread")
    if step.shared_bytes is not None:
        needs.append(f"{step.shared_bytes:,} bytes of shared memory")
    return f"At {' and '.join(needs)} or less {_more(found.blocks_per_sm, step.blocks_per_sm)} would fit: {then}."


def _more(now: int, then: int) -> str:
    if then > now + 1:
        return f"{then} blocks"
    if then in units.ORDINALS:
        return f"a{'n' if then == 8 else ''} {units.ORDINALS[then]} block"
    return f"block number {then}"
