"""benchmarks/faults.py: the faults of mutation/faults.toml are still such."""

from __future__ import annotations

import faults


def test_each_fault_still_has_its_line() -> None:
    """A line may move, but a fault whose line was changed is to be written anew, or drawn."""
    gone = []
    for fault in faults.all_faults():
        path = faults.ROOT / fault.path
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        if fault.where(lines) is None:
            gone.append(f"{fault.id}: {fault.path} has no line {fault.was!r} any more")
    assert not gone, "\n".join(gone)
