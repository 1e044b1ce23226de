"""What lines of source cost, by what was counted for them: cycles of a multiprocessor's load-store unit and schedulers.

A wavefront of shared memory is one (CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks"), and so is a
sector of another block's shared memory; a sector from beyond L1 is half a one, as 64 bytes come a cycle, and an
instruction of a warp a quarter, as four are issued a cycle. This compares lines with each other; how long a kernel
takes is the time model's to say (model.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.emulator import metrics

Counters = Mapping[str, int]

SECTOR_CYCLES, ISSUE_CYCLES = 0.5, 0.25


def total(counters: Counters, names: Mapping[str, str]) -> int:
    """The counters of some metrics added up."""
    return sum(counters.get(name, 0) for name in names.values())


def cycles(counters: Counters) -> float:
    """What was counted, in cycles of a multiprocessor."""
    sectors = total(counters, metrics.GLOBAL_SECTORS) + total(counters, metrics.LOCAL_SECTORS)
    return (
        total(counters, metrics.SHARED_WAVEFRONTS)
        + total(counters, metrics.PEER_SECTORS)
        + SECTOR_CYCLES * sectors
        + ISSUE_CYCLES * counters.get(metrics.WARP_INSTRUCTIONS, 0)
    )
