"""What findings about mbarriers say, from the numbers that native code packs into one."""

from __future__ import annotations

from grader.emulator.machine.records import Phase, PhaseFault
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


def phase(kind: int, packed: int, initialised: int | None) -> Phase | None:
    """What is known of a phase; `initialised` is the line that has initialised its mbarrier."""
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
