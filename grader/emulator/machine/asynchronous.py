"""What findings about mbarriers and descriptors say, from the numbers that native code packs into one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.emulator.machine.records import Descriptor, DescriptorField, Phase, PhaseFault
from grader.emulator.places import Place
from grader.emulator.runtime import layout

PHASE_FAULTS: dict[int, PhaseFault] = {
    layout.NO_MBARRIER: "absent",
    layout.OVERRUN: "overrun",
    layout.FEW_ARRIVALS: "arrivals",
    layout.SKIPPED: "skipped",
    layout.OTHER_BYTES: "bytes",
    layout.WRONG_PARITY: "parity",
    layout.REFILLED: "refilled",
    layout.IN_USE: "in_use",
}


def phase(kind: int, packed: int, initialised: Place) -> Phase | None:
    """What is known of a phase; `initialised` is where its mbarrier was."""
    fault = PHASE_FAULTS.get(kind)
    if fault is None or fault == "absent":
        return Phase(fault) if fault else None
    number, expected, arrived = (
        packed >> place * layout.PHASE_FIELD & (1 << layout.PHASE_FIELD) - 1 for place in (2, 1, 0)
    )
    if fault in ("refilled", "in_use"):
        return Phase(fault, number=number)
    if fault == "parity":
        return Phase(fault, number=number, waited=arrived - 1)
    return Phase(fault, arrived, expected, number, initialised=initialised)


OF_NO_ACCESS = (
    layout.UNWRITTEN_USED,
    layout.ABSENT_USED,
    layout.UNFENCED_PRODUCT,
    layout.LOCAL_MAP,
    layout.MANY_REGISTERS,
    layout.BAD_DESCRIPTOR,
)
"""Kinds of findings that are about no place in memory."""
_ROWS_OF_A = 64


def descriptor(packed: int, place: int, parts: Sequence[str], shared_bytes: int) -> Descriptor:
    """What is known of a descriptor by which a wgmma reads outside of shared memory (warpgroups.py)."""
    is_b, column, offset = place >> 32 & 1, place >> 33 & 1, place & 0xFFFFFFFF
    start, leading, stride = ((packed >> bit & 0x3FFF) << 4 for bit in (0, 16, 32))
    mode = packed >> 62 & 3
    row = 1 << (8 - mode) if mode else 16
    shape = re.search(r"n(\d+)k", ".".join(parts))
    rows = int(shape[1]) if is_b and shape else _ROWS_OF_A
    along, across = ((2 * rows - 1) // row, 1) if column else (31 // row, (rows - 1) // 8)
    if column and not mode:
        along, across = across, along
    reach: dict[DescriptorField, int] = {
        "start address": start,
        "leading byte offset": leading * along,
        "stride byte offset": stride * across,
    }
    field = max(reach, key=lambda name: reach[name])
    swizzle = row if mode else 0
    return Descriptor("B" if is_b else "A", field, start, leading, stride, swizzle, offset, shared_bytes)
