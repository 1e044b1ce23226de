"""Registers that warps of a block hand to each other (PTX ISA 9.7.19.5, setmaxnreg)."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (
    LANES,
    MANY_REGISTERS,
    REGISTERS,
    W_GROWN,
    W_REGISTERS,
    WARP,
    WARP_BYTES,
    WARP_STATES,
    WARPS,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native


@native
def set_registers(warp: int, site: int, count: int, grows: int) -> None:
    """A thread of the running warp has so many registers from now on."""
    w = pointer(warp, int64)
    w[W_REGISTERS] = count
    w[W_GROWN] = site if grows else int64(0)


@native
def check_registers(context: int) -> None:
    """At the end of a block: notes, where its first warp has asked for more, that its warps have more together than
    they began with. That sum is the same in whatever order they came by, and a GPU waits for ever before it."""
    c = pointer(context, int64)
    held, first = int64(0), int64(-1)
    for warp in range(c[WARPS]):
        w = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)
        held += w[W_REGISTERS] if w[W_REGISTERS] else c[REGISTERS]
        if w[W_GROWN] and first < 0:
            first = int64(warp)
    if first >= 0 and held > c[WARPS] * c[REGISTERS]:
        c[WARP] = first
        site = pointer(c[WARP_STATES] + first * c[WARP_BYTES], int64)[W_GROWN]
        other = held * LANES << 32 | c[WARPS] * c[REGISTERS] * LANES
        note(context, site, MANY_REGISTERS, int64(0), int64(0), other)
